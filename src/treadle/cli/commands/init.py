"""``treadle init``: a commented treadle.toml and an example task."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from treadle.cli.help import add
from treadle.cli.options import Common
from treadle.errors import UserError

TASK_NAME = "example-task.jsonl"
_EXAMPLE = "treadle init"
_QUESTIONS = (
    ("apples", "A crate holds 24 apples. How many apples are in 7 crates?", 168),
    ("train", "A train leaves at 9:40 and arrives at 12:15. How many minutes does it take?", 155),
    ("ribbon", "A ribbon of 3 metres is cut into pieces of 12 centimetres. How many pieces are there?", 25),
    ("stairs", "Ida climbs 4 floors of 18 steps each and goes down 25 steps. How many steps up is she?", 47),
    ("average", "What is the average of 14, 19, 23 and 32?", 22),
    ("change", "Three books cost 8.50 each. How much change is left of 50?", 24.5),
    ("rows", "A hall has 15 rows of 22 seats; 37 seats are broken. How many seats can be used?", 293),
    ("share", "Four friends share 62 cards equally. How many cards are left over?", 2),
    ("tank", "A tank of 180 litres loses 2.5 litres an hour. After how many hours is it empty?", 72),
    ("percent", "A coat of 240 is sold at 35 percent less. What does it cost now?", 156),
    ("digits", "What is the sum of the digits of 9876?", 30),
    ("weeks", "How many hours do 3 weeks have?", 504),
)


def init(
    options: Common,
    force: Annotated[bool, typer.Option("--force", help="Overwrite files that are there.")] = False,
) -> int:
    """Write a commented treadle.toml and an example task.

    What is there already stays, unless you say --force.
    """
    import msgspec

    from treadle.cli.output import print_json, write
    from treadle.config import CONFIG_NAME
    from treadle.config_template import starter_config

    config = options.config or Path(CONFIG_NAME)
    task = config.parent / TASK_NAME
    rows = [msgspec.json.encode({"id": id, "input": text, "target": target}) for id, text, target in _QUESTIONS]
    texts = {config: starter_config(), task: b"".join(row + b"\n" for row in rows).decode()}
    there = [str(path) for path in texts if path.exists()]
    if there and not force:
        raise UserError(f"already there: {' and '.join(there)}; nothing was written; --force overwrites")
    for path, text in texts.items():
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        except OSError as error:
            raise UserError(f"{path} cannot be written: {error.strerror}") from None
    steps = _next_steps(config, task, given=options.config is not None)
    if options.as_json:
        print_json({"written": [str(path) for path in texts], "next": [command for command, _ in steps]})
        return 0
    wrote = "\n".join(f"wrote {path}" for path in texts)
    width = max(len(command) for command, _ in steps)
    write(f"{wrote}\n\nnext:\n" + "".join(f"  {command:<{width}}  {why}\n" for command, why in steps))
    return 0


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    add(app, "init", init, _EXAMPLE)


def _next_steps(config: Path, task: Path, *, given: bool) -> list[tuple[str, str]]:
    option = f" --config {config}" if given else ""
    return [
        (f"treadle baseline --task simulated:llm{option}", "a first table, simulated: no key, no cost"),
        (f"treadle doctor{option}", f"after you put a model of yours into {config}"),
        (f"treadle baseline --task jsonl:{task} --model ALIAS{option}", "its first real table"),
    ]
