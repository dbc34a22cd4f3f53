"""The whole program of a reply: completed where only a part of it was written."""

from __future__ import annotations

import textwrap
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from treadle.parsing.fences import fenced
from treadle.parsing.reply_programs import fault, program

HEADER = 'import math\n\n\ndef root(x: float) -> float:\n    """The root of x."""\n'


@pytest.mark.parametrize(
    ("reply", "end"),
    [
        ("    return math.sqrt(x)\n", "\n"),
        ("return math.sqrt(x)", ""),
        ("```python\n    return math.sqrt(x)\n```", "\n"),
        ("```\nreturn math.sqrt(x)\n```\nwhich is the root.", "\n"),
        ("```python\npip\n```\n```python\nreturn math.sqrt(x)\n```", "\n"),
        ("<think>def root(x): return 0</think>\n    return math.sqrt(x)", ""),
    ],
)
def test_a_body_alone_is_put_behind_the_head_of_the_question(reply: str, end: str) -> None:
    assert program(reply, "root", HEADER) == f"{HEADER}    return math.sqrt(x){end}"


@pytest.mark.parametrize("reply", ["Sure, the root is what you want.", "root", "", "```python\n# nothing\n```"])
def test_words_are_no_body(reply: str) -> None:
    found = program(reply, "root", HEADER)
    assert found is None or fault(found, "root") is not None


def test_what_a_program_lacks_of_the_head_is_put_before_it() -> None:
    bare = "def root(x):\n    return math.sqrt(x)\n"
    assert program(f"```python\n{bare}```", "root", HEADER) == f"import math\n\n{bare}"
    whole = f"import math\n{bare}"
    assert program(whole, "root", HEADER) == whole
    late = f"from __future__ import annotations\n{bare}"
    assert program(late, "root", HEADER) == late
    open_head = "import math\ndef root(x):"
    assert program(bare, "root", open_head) == f"import math\n\n{bare}"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (None, "no Python program"),
        ("def f(:", "line 1"),
        ("x = '\0'", "no valid Python"),
        ("def g(): ...", "does not define f"),
        ("class f: ...", None),
        ("f = len", None),
    ],
)
def test_a_fault_is_said_in_a_sentence(text: str | None, words: str | None) -> None:
    said = fault(text, "f")
    assert said is None if words is None else words in (said or "")


@given(st.text(max_size=200), st.text(alphabet="`~\n py", max_size=40))
def test_a_program_in_a_block_is_read_back_as_it_is(words: str, ticks: str) -> None:
    source = f"def f():\n    return {words!r}\n\nx = {ticks!r}\n# {ticks.strip() and '`' * len(ticks)}\n"
    assert program(fenced(source), "f") == source


@pytest.mark.shared
def test_every_canonical_body_of_humaneval_completes_its_head(shared_data: Path) -> None:
    lines = (shared_data / "humaneval" / "humaneval.jsonl").read_bytes().splitlines()
    for row in map(msgspec.json.decode, lines):
        head, body, name = row["prompt"], row["canonical_solution"], row["entry_point"]
        for reply in (body, body.strip(), fenced(body), f"So:\n{fenced(textwrap.dedent(body), '')}\nDone."):
            assert fault(program(reply, name, head), name) is None, row["id"]


VARIANTS = {
    "try": "try:\n    import cmath\n    def root(x): return x ** 0.5\nexcept OSError:\n    def root(x): return 0\n",
    "if": "import sys\nif sys.version_info > (3,):\n    def root(x):\n        return x ** 0.5\n",
    "with": "import contextlib\nwith contextlib.nullcontext():\n    def root(x): return x ** 0.5\n",
    "tuple": "root, _ = (lambda x: x ** 0.5), 1\n",
    "alias": "from math import sqrt as root\n",
}


@pytest.mark.parametrize("name", VARIANTS)
def test_what_defines_the_entry_point_at_any_depth_is_no_body(name: str) -> None:
    variant = VARIANTS[name]
    assert fault(variant, "root") is None
    found = program(f"```python\n{variant}```", "root", HEADER)
    assert found == f"import math\n\n{variant}"
    namespace: dict[str, object] = {}
    exec(found or "", namespace)
    root = namespace["root"]
    assert callable(root)
    assert root(9) == 3.0


def test_a_faulty_definition_is_not_hidden_in_the_head_of_the_question() -> None:
    faulty = "def root(x):\n    return (x\n"
    assert program(f"```python\n{faulty}```", "root", HEADER) == faulty


def test_blocks_before_the_function_that_define_what_it_lacks_are_put_before_it() -> None:
    imports, plain, function = (
        "import math\n",
        "def half(x):\n    return math.floor(x / 2)\n",
        "def f(x):\n    return half(x)\n",
    )
    told = f"```python\n{imports}```\nPart:\n```\n{plain}```\nThen\n```python\n{function}```\n```py\nprint(f(1))\n```"
    assert program(told, "f") == f"{imports}\n\n{plain}\n\n{function}"
    alone = "import math\ndef f(x):\n    return math.sqrt(x)\n"
    assert program(f"```python\nimport math\n```\n```python\n{alone}```", "f") == alone
    assert program(f"```python\ndef f(x): return half\nhalf = 3\n```\n```python\n{function}```", "f") == function


def test_a_null_byte_is_said_without_a_line() -> None:
    assert "line None" not in (fault("x = '\0'", "x") or "")
