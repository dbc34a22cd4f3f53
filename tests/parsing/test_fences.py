from __future__ import annotations

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from treadle.parsing.fences import Block, blocks, code

SOLVE = "def solve(n):\n    return n + 1\n"


@pytest.mark.parametrize(
    ("reply", "found"),
    [
        ("````md\n```py\nx\n```\n````", [Block("md", "```py\nx\n```\n", True)]),
        ("~~~py\nx = 1\n```\n~~~", [Block("py", "x = 1\n```\n", True)]),
        ("```py\nx = 1\n~~~\n```", [Block("py", "x = 1\n~~~\n", True)]),
        ("```\na\n``` py\nb\n`````  \n", [Block("", "a\n``` py\nb\n", True)]),
        ("   ```py\n   x\n     y\n  z\n   ```", [Block("py", "x\n  y\nz\n", True)]),
        ("```Python title='a.py'\nx\n```", [Block("python", "x\n", True)]),
        ("```{.python}\nx\n```", [Block("python", "x\n", True)]),
        ("```py\nx", [Block("py", "x", False)]),
        ("```py", [Block("py", "", False)]),
        ("```py\r\nx\r\n```\r\n", [Block("py", "x\r\n", True)]),
        ("```a\n1\n```\n```b\n2\n```", [Block("a", "1\n", True), Block("b", "2\n", True)]),
        ("    ```\nx", []),
        ("use ```py\nx", []),
        ("```a`b\nx", []),
        ("``\nx\n``", []),
    ],
)
def test_fences_pair_as_in_commonmark(reply: str, found: list[Block]) -> None:
    assert blocks(reply) == found


@given(
    st.text(alphabet="`~ \nab", max_size=60),
    st.sampled_from("`~"),
    st.sampled_from(["", "py", "json"]),
    st.integers(0, 3),
)
def test_a_longer_fence_holds_anything(content: str, mark: str, language: str, indent: int) -> None:
    runs = [len(run) for line in content.split("\n") for run in line.replace("~", "`").split(" ")]
    fence = " " * indent + mark * (max([2, *runs]) + 1)
    inside = "".join(" " * indent + line + "\n" for line in content.split("\n"))
    assert blocks(f"Here:\n{fence}{language}\n{inside}{fence}\nthere") == [Block(language, content + "\n", True)]


def test_the_entry_point_chooses_among_blocks() -> None:
    reply = f"```sh\npip install x\n```\n```python\n{SOLVE}```\nIt prints\n```\n2\n```\n```python\nprint(solve(1))\n```"
    assert code(reply, "solve") == SOLVE
    assert code(reply) == "print(solve(1))\n"
    assert code(reply, language="bash") == "pip install x\n"


def test_of_two_that_qualify_the_last_wins() -> None:
    better = SOLVE.replace("1", "2")
    assert code(f"```py\n{SOLVE}```\nBetter:\n```\n{better}```\n", "solve") == better


def test_a_valid_program_wins_over_a_later_one_that_is_cut() -> None:
    assert code(f"```py\n{SOLVE}```\nBetter:\n```py\ndef solve(n):\n    return (n", "solve") == SOLVE


def test_a_cut_block_is_still_the_program() -> None:
    assert code("```python\nx = 1\ndef solve(n):\n    return (n", "solve") == "x = 1\ndef solve(n):\n    return (n"


@pytest.mark.parametrize(
    "program", [SOLVE, "solve = len\n", "class solve: ...", "async def solve(): ...", "solve: int = 3"]
)
def test_bare_code_is_the_whole_text(program: str) -> None:
    assert code(program, "solve") == program
    assert code(program) == program
    assert code(program, "other") is None


def test_a_fence_within_a_string_is_part_of_bare_code() -> None:
    program = 'def f():\n    """\n```\nx\n```\n"""\n'
    assert code(program) == program


@pytest.mark.parametrize(
    "reply", ["", "Sure", "42", "I cannot do that.", "```bash\nls\n```", "```\nnot code at all\n```"]
)
def test_prose_is_no_program(reply: str) -> None:
    assert code(reply) is None


def test_an_odd_escape_in_the_program_is_no_warning() -> None:
    assert code("```py\nimport re\nx = re.compile('\\d')\n```", "x") is not None


def test_reading_never_executes(capsys: pytest.CaptureFixture[str]) -> None:
    assert code("print('ran')") == "print('ran')"
    assert capsys.readouterr().out == ""


@given(st.text(max_size=200))
def test_whatever_is_chosen_stood_in_the_reply(reply: str) -> None:
    program = code(reply)
    if program is not None and not blocks(reply):
        assert program == reply.removeprefix("\ufeff")
        ast.parse(program)


@pytest.mark.parametrize(
    ("reply", "found"),
    [
        ("1. So:\n\n    ```python\n    x\n      y\n    ```\nz", [Block("python", "x\n  y\n", True)]),
        ("- ```py\n  x\n  ```\n- ```sh\n  ls\n  ```", [Block("py", "x\n", True), Block("sh", "ls\n", True)]),
        ("* a\n  1) b\n\n     ~~~\n     x\n\n     y\n     ~~~", [Block("", "x\n\ny\n", True)]),
        ("-\n  ```\n  x\n  ```", [Block("", "x\n", True)]),
        ("- a\n\nb\n\n    ```\n    x\n    ```", []),
        ("- ```\n  x\n          ```\n  y\n  ```", [Block("", "x\n        ```\ny\n", True)]),
    ],
)
def test_fences_stand_in_list_items_too(reply: str, found: list[Block]) -> None:
    assert blocks(reply) == found


def test_an_example_of_the_use_of_a_function_is_not_the_function() -> None:
    for example in ("solve = solve(2)", "from answer import solve\nprint(solve(2))", "for solve in []: ..."):
        assert code(f"```python\n{SOLVE}```\nUsage:\n```python\n{example}\n```", "solve") == SOLVE


@pytest.mark.parametrize("reply", ["\ufeff{}", "```python\n\ufeff{}```", "```\n\ufeff{}```"])
def test_a_byte_order_mark_is_no_part_of_a_program(reply: str) -> None:
    assert code(reply.format(SOLVE), "solve") == SOLVE
    assert code(reply.format(SOLVE)) == SOLVE
