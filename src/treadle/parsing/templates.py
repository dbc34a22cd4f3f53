"""Prompts with placeholders, where text that is put in arrives as it is."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from treadle.errors import UserError

_TOKEN = re.compile(r"\{\{|\}\}|\{(?P<name>[A-Za-z_][A-Za-z0-9_]*)\}|[{}]")


@dataclass(frozen=True, slots=True)
class Template:
    """A prompt with ``{name}`` placeholders; a literal brace is written ``{{`` or ``}}``.

    Args:
        text: The prompt.
        fields: The placeholders it must have; taken from the text, in their order, where not given.

    Raises:
        UserError: A placeholder that is not in ``fields``, a field that the text does not use, or a lone brace.
    """

    text: str
    fields: tuple[str, ...] | None = None
    _parts: tuple[tuple[str, str | None], ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        parts = tuple(_parts(self.text))
        found = tuple(dict.fromkeys(name for _, name in parts if name is not None))
        wanted = found if self.fields is None else self.fields
        unknown = [name for name in found if name not in wanted]
        if unknown:
            raise UserError(
                f"the prompt names {{{unknown[0]}}}, which nothing fills; it may use {_listed(wanted)}, "
                "and a literal brace is written {{ or }}"
            )
        unused = [name for name in wanted if name not in found]
        if unused:
            raise UserError(f"the prompt does not use {{{unused[0]}}}; put it where the value belongs")
        object.__setattr__(self, "fields", wanted)
        object.__setattr__(self, "_parts", parts)

    def fill(self, **values: str) -> str:
        """Put the values in, untouched: braces and placeholders within them stay text.

        Args:
            values: One text for every field.

        Returns:
            The prompt.

        Raises:
            TypeError: A value is missing, is not a text or has no field.
        """
        fields = self.fields or ()
        missing = [name for name in fields if name not in values]
        extra = [name for name in values if name not in fields]
        if missing or extra:
            raise TypeError(
                f"the prompt takes {_listed(fields)}; "
                + (f"{missing[0]!r} is missing" if missing else f"{extra[0]!r} has no place in it")
            )
        return "".join(literal if name is None else literal + values[name] for literal, name in self._parts)


def _listed(names: tuple[str, ...]) -> str:
    return ", ".join(f"{{{name}}}" for name in names) or "no placeholder"


def _parts(text: str) -> list[tuple[str, str | None]]:
    parts: list[tuple[str, str | None]] = []
    literal = ""
    position = 0
    for token in _TOKEN.finditer(text):
        literal += text[position : token.start()]
        position = token.end()
        if token["name"] is not None:
            parts.append((literal, token["name"]))
            literal = ""
        elif len(token[0]) == 2:
            literal += token[0][0]
        else:
            line = text.count("\n", 0, token.start()) + 1
            raise UserError(
                f"the prompt has a lone {token[0]} in line {line}; a literal brace is written {{{{ or }}}}, "
                "a placeholder {name}"
            )
    parts.append((literal + text[position:], None))
    return parts
