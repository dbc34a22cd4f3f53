"""``drop:FILE`` and ``hotpotqa:FILE``: questions about given texts, graded by F1."""

from __future__ import annotations

from hashlib import blake2b
from typing import Any

from treadle.tasks.opening import FieldNames, Opening, build_samples, target_reader
from treadle.tasks.rows import Row, read_rows
from treadle.tasks.scorers.f1 import F1Scorer
from treadle.tasks.task import Task

_FORMAT = "End with a line 'Answer: <answer>', as short as possible."


def open_drop(opening: Opening) -> Task:
    """Open a file with ``context`` (passage and question) and ``answers``, each of which is right (arXiv 1903.00161).

    Questions about one passage are one group.
    """
    names = FieldNames.of(opening.options, input="context", target="answers")
    scorer = F1Scorer(_FORMAT)
    samples = build_samples(
        read_rows(opening.path()),
        names,
        target=target_reader(scorer, names),
        group=lambda row: _passage(row, names.input),
    )
    return opening.task(samples, scorer)


def open_hotpotqa(opening: Opening) -> Task:
    """Open a file with ``question``, ``context`` (titles with sentences) and ``answer`` (arXiv 1809.09600)."""
    names = FieldNames.of(opening.options, input="question", target="answer")
    scorer = F1Scorer(_FORMAT)
    samples = build_samples(
        read_rows(opening.path()),
        names,
        target=target_reader(scorer, names),
        input=lambda row: _with_context(row, names.input),
        hidden=frozenset({"supporting_facts", "context"}),
    )
    return opening.task(samples, scorer)


def _passage(row: Row, name: str) -> str:
    passage = row.text(name, "input").rpartition("\nQuestion:")[0] or row.text(name, "input")
    return "passage " + blake2b(passage.encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()


def _with_context(row: Row, name: str) -> str:
    question = row.text(name, "input")
    context = row.fields.get("context")
    if isinstance(context, str):
        return f"{context}\n\nQuestion: {question}"
    paragraphs = [_paragraph(row, entry) for entry in _entries(row, context)]
    return "\n\n".join([*paragraphs, f"Question: {question}"])


def _entries(row: Row, context: Any) -> list[Any]:
    if isinstance(context, dict):
        # The layout of the set on the hub: titles and sentence lists side by side.
        columns: dict[str, Any] = context  # pyright: ignore[reportUnknownVariableType]
        titles, sentences = columns.get("title"), columns.get("sentences")
        if isinstance(titles, list) and isinstance(sentences, list):
            return list(zip(titles, sentences, strict=False))  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
    if isinstance(context, list):
        return context  # pyright: ignore[reportUnknownVariableType]
    raise row.fault("the field 'context' must be text, or a list of a title and its sentences each")


def _paragraph(row: Row, entry: Any) -> str:
    match entry:
        case [str(title), [*sentences]] if all(isinstance(sentence, str) for sentence in sentences):
            return f"{title}: {''.join(sentences).strip()}"
        case _:
            raise row.fault("each entry of 'context' must be a title and a list of sentences")
