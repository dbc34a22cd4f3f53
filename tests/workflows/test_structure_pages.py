"""Every structure with a name has a page, and the pages say what the code does."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec
import pytest

from treadle.errors import UserError
from treadle.search.spaces.dials import FUNNEL, TERMS
from treadle.search.spaces.dials import PRESETS as SPACES
from treadle.search.spaces.open import Given, open_space
from treadle.workflows.archon.json_form import structure_from
from treadle.workflows.archon.kinds import KINDS
from treadle.workflows.archon.one_line import one_line, parse_one_line
from treadle.workflows.archon.presets import PRESETS, preset
from treadle.workflows.archon.rules import PROFILES, Profile, check

PAGES = Path(__file__).parents[2] / "docs" / "structures"
INDEX = (PAGES / "index.md").read_text(encoding="utf-8")
MODELS = ("a", "b", "c")


def nobody(role: str) -> None:
    """No model is named for any role."""


def worked_out(terms: str) -> int:
    """A sum of numbers and products of two."""
    total = 0
    for term in terms.split("+"):
        product = 1
        for factor in term.split("·"):
            product *= int(factor)
        total += product
    return total


@pytest.mark.parametrize("name", PRESETS)
def test_a_page_shows_form_calls_and_when_to_use_a_preset_and_when_not(name: str) -> None:
    page = (PAGES / f"{name}.md").read_text(encoding="utf-8")
    assert page.startswith(f"# {name}\n")
    assert f"- **Form**: `{PRESETS[name]}`\n" in page
    assert f"- **Calls per question**: {preset(name).count()}\n" in page
    assert re.search(r"^- \*\*Source\*\*: .*arxiv\.org", page, re.MULTILINE)
    for heading in ("Use it", "Do not use it"):
        assert re.search(rf"^## {heading}\n\n- ", page, re.MULTILINE)
    assert re.search(rf"^\$ treadle (eval|run) archon:{name} ", page, re.MULTILINE)
    assert f"| [`{name}`]({name}.md) | `{PRESETS[name]}` | {preset(name).count()} |" in INDEX


@pytest.mark.parametrize("name", PRESETS)
@pytest.mark.parametrize("count", [1, 2, 3])
def test_a_page_shows_who_plays_what_with_so_many_models(name: str, count: int) -> None:
    page = (PAGES / f"{name}.md").read_text(encoding="utf-8")
    given = MODELS[:count]
    shown = re.findall(rf"^\| {', '.join(given)} \| `(.+)` \|$", page, re.MULTILINE)
    assert [line.replace(" ", "") for line in shown] == [one_line(preset(name).cast(given, nobody))]


def test_every_page_is_a_preset_or_linked_from_the_index() -> None:
    pages = {page.stem for page in PAGES.glob("*.md")} - {"index"}
    assert pages == {*PRESETS}
    assert "(../components/index.md)" in INDEX


def test_the_calls_that_the_index_shows_are_those_of_the_code() -> None:
    shown = re.findall(r"^\| `(8g [^`]+)` \| (\d+) \| ([\d +·]+) \|$", INDEX, re.MULTILINE)
    assert len(shown) == 8
    for line, calls, terms in shown:
        assert parse_one_line(line).count() == int(calls) == worked_out(terms)


def test_the_index_names_every_component_with_letter_name_and_role() -> None:
    components = (PAGES.parent / "components" / "index.md").read_text(encoding="utf-8")
    for kind in KINDS:
        assert f"| `{kind.letter}` `{kind.kind}` `{kind.role}` |" in components
        assert re.search(rf"`{kind.letter}` [a-z -]+", INDEX)
        assert f"`{kind.kind}`" in INDEX
        assert f"`{kind.role}`" in INDEX


def test_the_json_of_the_index_is_a_structure_and_nothing_in_it_is_unknown() -> None:
    found = structure_from(msgspec.json.decode(INDEX.partition("```json\n")[2].partition("```")[0]), "index.md")
    assert found.remarks == ()
    check(found, "paper")


def test_the_axes_and_counts_that_the_guide_to_searching_shows_are_real(tmp_path: Path) -> None:
    guide = (PAGES.parent / "how-to" / "search-structures.md").read_text(encoding="utf-8")
    (tmp_path / "axes.toml").write_text(guide.partition("```text\n# axes.toml\n")[2].partition("```")[0])
    found = open_space("archon:axes.toml", tmp_path, Given(models=3))
    assert f"archon:axes.toml · {found.valid} structures of {found.raw} combinations, 3 models" in guide
    assert all(f"`{term}`" in guide for term in (*TERMS, FUNNEL))
    for name in SPACES:
        space = open_space(name, tmp_path)
        assert f"| `{name}` | {space.raw:,} | {space.valid:,} |" in guide


@pytest.mark.parametrize(
    ("line", "allowed"),
    [
        ("g + c > f", ()),
        ("2g > c + c > f", ()),
        ("u > 4g > e", ("archon-code",)),
        ("4g > f > 2g > f", ("archon-code",)),
        ("f > f", ()),
        ("4g > c > v > f", ("archon-code",)),
        ("4g > u > f > e", ("archon-code",)),
        ("4g > u > e > e", ()),
        ("4g > u", ()),
        ("4g > u > e > f", PROFILES),
    ],
)
def test_the_rules_are_those_of_the_table_of_the_index(line: str, allowed: tuple[Profile, ...]) -> None:
    kept: list[Profile] = []
    for profile in PROFILES:
        try:
            check(parse_one_line(line), profile)
        except UserError:
            continue
        kept.append(profile)
    assert tuple(kept) == allowed
