"""A made-up instance of SWE-bench for tests: a small repository, an issue, its fix and the tests that tell."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any
from urllib.parse import quote

from treadle.tasks.swe_repositories import COMMANDS

ID = "maker__calc-1"
QUICK = f"&test={quote('PYTEST_DISABLE_PLUGIN_AUTOLOAD=1 ' + COMMANDS['pytest'])}"
"""The usual test command, without the plugins that happen to be installed beside the tests' own pytest."""
FILES = {
    "calc.py": "def add(a, b):\n    return a - b\n\n\ndef double(a):\n    return 2 * a\n",
    "tests/test_calc.py": "from calc import double\n\n\ndef test_double():\n    assert double(2) == 4\n",
    "README.md": "Sums.\n",
}
FIX = """\
diff --git a/calc.py b/calc.py
--- a/calc.py
+++ b/calc.py
@@ -1,5 +1,5 @@
 def add(a, b):
-    return a - b
+    return a + b
~
~
 def double(a):
""".replace("~", " ")
TEST_PATCH = """\
diff --git a/tests/data.txt b/tests/data.txt
new file mode 100644
--- /dev/null
+++ b/tests/data.txt
@@ -0,0 +1 @@
+3
diff --git a/tests/test_calc.py b/tests/test_calc.py
--- a/tests/test_calc.py
+++ b/tests/test_calc.py
@@ -1,5 +1,9 @@
-from calc import double
+from calc import add, double
~
~
 def test_double():
     assert double(2) == 4
+
+
+def test_add():
+    assert add(1, 2) == 3
""".replace("~", " ")


def row(**changed: Any) -> dict[str, Any]:
    """The instance's row."""
    return {
        "instance_id": ID,
        "repo": "maker/calc",
        "base_commit": "0" * 40,
        "version": "1.0",
        "problem_statement": "add(1, 2) gives -1.\n",
        "hints_text": "Look at the sign.",
        "patch": FIX,
        "test_patch": TEST_PATCH,
        "FAIL_TO_PASS": '["tests/test_calc.py::test_add"]',
        "PASS_TO_PASS": ["tests/test_calc.py::test_double"],
        **changed,
    }


def write_rows(file: Path, *rows: dict[str, Any]) -> Path:
    """A file of rows."""
    file.write_text("".join(json.dumps(each) + "\n" for each in rows))
    return file


def git(folder: Path, *arguments: str) -> str:
    """What a git command writes; nothing of this machine's configuration counts."""
    settings = ("-c", "user.name=t", "-c", "user.email=t@t", "-c", "commit.gpgsign=false")
    done = subprocess.run(["git", *settings, *arguments], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def make_repository(folder: Path, files: dict[str, str] | None = None) -> str:
    """A repository of one commit; returns the commit."""
    for name, text in (files or FILES).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    git(folder, "init", "-q")
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "base")
    return git(folder, "rev-parse", "HEAD")


def lay_out(folder: Path, *, options: str = QUICK, files: dict[str, str] | None = None, **changed: Any) -> str:
    """Rows and a repository as one finds them laid out; returns the task's name."""
    make_repository(folder / "repos" / ID / "repo", files)
    write_rows(folder / "rows.jsonl", row(**changed))
    return f"swe:rows.jsonl?repos=repos&python={sys.executable}{options}"
