"""Attacks on the program that runs next, or that ran before, in the same sandbox."""

from __future__ import annotations

from attack import ONE_INTERPRETER, PLAIN, Attack, says_won

_FOUND = "its successor finds nothing of it"

NEXT = (
    Attack(
        "leave files",
        "leave files in the folders that the next program gets",
        _FOUND,
        """
import tempfile
for folder in (".", "/tmp", "/dev/shm", "/var/tmp", tempfile.gettempdir(), os.path.expanduser("~")):
    tried(lambda: open(os.path.join(folder, bait["mark"]), "w").write("left"))
""",
        PLAIN,
        says_won,
        after="""
import tempfile
for folder in (".", "/tmp", "/dev/shm", "/var/tmp", tempfile.gettempdir(), os.path.expanduser("~")):
    path = os.path.join(folder, bait["mark"])
    if os.path.exists(path): os.unlink(path); won()
""",
    ),
    Attack(
        "leave start-up files",
        "be loaded by the next program: as a module beside it, as its user's settings, by the environment",
        _FOUND,
        """
import site
own = site.getusersitepackages()
tried(os.makedirs, own)
for path in ("json.py", "usercustomize.py", own + "/usercustomize.py", own + "/sitecustomize.py"):
    tried(lambda: open(path, "w").write("print('won')\\nimport os, sys, time\\nloads = dumps = str\\n"))
os.environ.update(PYTHONSTARTUP="json.py", PYTHONPATH=".", LD_PRELOAD="./x.so", PYTHONINSPECT="1")
""",
        PLAIN,
        says_won,
        after="if os.environ.get('LD_PRELOAD') or 'usercustomize' in sys.modules: won()",
    ),
    Attack(
        "patch the builtins",
        "change what the next program takes for Python's own",
        _FOUND,
        """
import builtins
builtins.sorted = builtins.eval = lambda *a, **k: "left"
builtins.left = True
""",
        ONE_INTERPRETER,
        says_won,
        after="import builtins\nif hasattr(builtins, 'left') or sorted([1]) == 'left': won()",
    ),
    Attack(
        "patch modules",
        "change modules that the next program imports",
        _FOUND,
        """
import math, types
math.sqrt = os.getpid = lambda *a: "left"
sys.modules["fractions"] = types.ModuleType("left")
sys.path.insert(0, "left"); sys.left = True; sys.argv = ["left"]; os.left = True
""",
        ONE_INTERPRETER,
        says_won,
        after="""
import fractions, math
if fractions.__name__ == "left" or math.sqrt(4) == "left" or "left" in sys.path or hasattr(sys, "left"): won()
if hasattr(os, "left") or sys.argv == ["left"]: won()
""",
    ),
    Attack(
        "leave hooks",
        "watch the next program: profiler, importer, collector, signals, exit functions, threads",
        _FOUND,
        """
import atexit, gc, signal, threading
class Left:
    def find_spec(self, *a): return None
    def __call__(self, *a): return None
sys.meta_path.insert(0, Left()); gc.callbacks.append(Left()); sys.setprofile(Left()); sys.excepthook = Left()
signal.signal(signal.SIGUSR1, signal.SIG_IGN); atexit.register(Left())
threading.Thread(target=time.sleep, args=(1,), name="left", daemon=True).start()
""",
        ONE_INTERPRETER,
        says_won,
        after="""
import gc, signal, threading
hooks = [*sys.meta_path, *gc.callbacks, sys.getprofile(), sys.excepthook]
if any(type(hook).__name__ == "Left" for hook in hooks): won()
if signal.getsignal(signal.SIGUSR1) != signal.SIG_DFL or any(t.name == "left" for t in threading.enumerate()): won()
""",
    ),
    Attack(
        "leave a state",
        "leave another folder, file mask and environment, and closed or opened descriptors",
        _FOUND,
        """
os.chdir("/"); os.umask(0o777); os.environ["LEFT"] = "left"
os.dup2(os.open("/dev/zero", os.O_RDONLY), 60)
""",
        ONE_INTERPRETER,
        says_won,
        after="""
if os.getcwd() == "/" or os.umask(0) == 0o777 or "LEFT" in os.environ or tried(os.fstat, 60): won()
""",
    ),
    Attack(
        "the one before, in memory",
        "find what an earlier program was given in the memory of its own process",
        "the secret of the earlier program is in no output",
        """
import re
memory = open("/proc/self/mem", "rb", 0)
pattern = re.compile(bait["prefix"].encode() + b"[0-9a-f]{32}")
for line in open("/proc/self/maps"):
    span, rights, *_ = line.split()
    start, end = (int(side, 16) for side in span.split("-"))
    if rights.startswith("rw") and end - start < 1 << 28:
        part = tried(lambda: (memory.seek(start), memory.read(end - start))[1])
        if part: print(set(pattern.findall(part)))
""",
        ONE_INTERPRETER,
        before="secret = sys.stdin.read()\nprint(len(secret))",
    ),
    Attack(
        "the one before, as objects",
        "find what an earlier program was given among the interpreter's objects and frames",
        "the secret of the earlier program is in no output",
        """
import gc
frame = sys._getframe()
while frame: print(frame.f_globals, frame.f_locals); frame = frame.f_back
for each in gc.get_objects():
    if isinstance(each, dict):
        for value in list(each.values()):
            if isinstance(value, (str, bytes)) and len(value) < 999 and bait["prefix"] in str(value): print(value)
""",
        ONE_INTERPRETER,
        before="secret = sys.stdin.read()\nprint(len(secret))",
    ),
)
