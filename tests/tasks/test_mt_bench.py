"""MT-bench: questions of several turns, with the answers they are compared with and what people preferred."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import msgspec
import pytest

from treadle.errors import DatasetError, UserError
from treadle.models.base import Request
from treadle.tasks.base import Duel, Score
from treadle.tasks.dialogue import Dialogue, answers_of
from treadle.tasks.gold import check_gold
from treadle.tasks.human_labels import HumanLabel
from treadle.tasks.joined import join_tasks
from treadle.tasks.open import open_task
from treadle.tasks.reference_answers import ReferenceAnswers
from treadle.tasks.task import Task
from treadle.testing.sessions import recording_run

SPEC = "mt-bench:questions.jsonl?answers=answers.jsonl"
POEM = {"id": "mtbench-81", "question_id": 81, "category": "writing", "turns": ["Write a poem", "Now a limerick"]}
SUM = {
    "id": "mtbench-111",
    "question_id": 111,
    "category": "math",
    "turns": ["What is 1+1?", "Times 5?"],
    "reference": ["It is 2", ""],
    "gpt4_reference": ["Two.", "Ten."],
}
FASTCHAT = [
    {"question_id": 81, "model_id": "old", "choices": [{"index": 0, "turns": ["old poem", "old limerick"]}]},
    {"question_id": 111, "model_id": "old", "choices": [{"index": 0, "turns": ["old sum", "old product"]}]},
]


def write(path: Path, *rows: Mapping[str, Any]) -> None:
    path.write_bytes(b"\n".join(msgspec.json.encode(row) for row in rows) + b"\n")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with two questions and a reference answer to each turn of both."""
    write(tmp_path / "questions.jsonl", POEM, SUM)
    write(tmp_path / "answers.jsonl", *FASTCHAT)
    return tmp_path


def opened(folder: Path, spec: str = SPEC) -> Task:
    return open_task(spec, folder=folder)


def test_a_question_has_turns_and_an_answer_to_compare_each_with(folder: Path) -> None:
    task = opened(folder)
    poem, addition = task.samples
    assert (poem.id, poem.input, poem.further) == ("mtbench-81", "Write a poem", ("Now a limerick",))
    assert poem.target == ReferenceAnswers(("old poem", "old limerick"))
    assert addition.target == ReferenceAnswers(("old sum", "old product"), ("It is 2", "Ten."))
    assert (poem.group, task.scorer.name, task.scorer.judged) == (None, "pairwise", True)


def test_a_workflow_sees_neither_references_nor_the_turns_to_come(folder: Path) -> None:
    task = opened(folder)
    for sample in task.samples:
        problem = task.problem(sample)
        assert set(problem.fields) <= {"category", "question_id"}
        assert sample.further[0] not in str(problem.messages)
        assert problem.examples == ()


def test_the_next_turn_comes_with_the_chat_so_far(folder: Path) -> None:
    task = opened(folder)
    poem = task.samples[0]
    following = task.next_problem(poem, ("<think>hm</think> Roses are red",))
    assert following is not None
    assert (following, following.id) == ("Now a limerick", "mtbench-81")
    assert [(turn.role, turn.content) for turn in following.messages] == [
        ("user", "Write a poem"),
        ("assistant", "Roses are red"),
        ("user", "Now a limerick"),
    ]
    assert task.next_problem(poem, ("Roses are red", "There was a man")) is None
    assert task.next_problem(poem, ("<think>hm</think>",)) is None, "nothing to go on from"


def test_joined_with_others_turns_and_labels_go_under_the_joined_id(folder: Path) -> None:
    write(folder / "labels.jsonl", {"question_id": 81, "a": "x", "b": "y", "winner": "a"})
    joined = join_tasks([opened(folder, f"{SPEC}&labels=labels.jsonl"), opened(folder)])
    following = joined.next_problem(joined.samples[2], ("Roses",))
    assert following is not None
    assert (following, following.id) == ("Now a limerick", "2/mtbench-81")
    assert joined.next_problem(joined.samples[2], ("Roses", "Lime")) is None
    assert joined.labels == (HumanLabel("1/mtbench-81", 1, ("x",), ("y",), "a"),)


def test_other_reference_answers_are_other_data(folder: Path) -> None:
    before = opened(folder)
    write(folder / "answers.jsonl", {"id": "mtbench-81", "answers": ["new", "newer"]}, FASTCHAT[1])
    after = opened(folder)
    assert after.samples[0].target == ReferenceAnswers(("new", "newer"))
    assert before.row_hashes["mtbench-81"] != after.row_hashes["mtbench-81"]
    assert before.row_hashes["mtbench-111"] == after.row_hashes["mtbench-111"]


async def test_the_gold_check_leaves_judged_questions_alone(folder: Path) -> None:
    report = await check_gold(opened(folder))
    assert (report.checked, report.bad) == (0, ())


def test_answers_may_be_for_more_questions_and_more_turns(folder: Path) -> None:
    write(folder / "answers.jsonl", *FASTCHAT, {"question_id": 160, "answer": "not asked here"})
    write(folder / "questions.jsonl", POEM | {"turns": ["Write a poem"]}, SUM)
    assert opened(folder).samples[0].target == ReferenceAnswers(("old poem",))


def test_without_answers_to_compare_with_the_remedy_is_told(folder: Path) -> None:
    with pytest.raises(UserError, match=r"add \?answers=FILE"):
        opened(folder, "mt-bench:questions.jsonl")
    with pytest.raises(DatasetError, match=r"answer\.jsonl: there is no such file; did you mean answers\.jsonl"):
        opened(folder, "mt-bench:questions.jsonl?answers=answer.jsonl")
    with pytest.raises(UserError, match="did you mean labels"):
        opened(folder, f"{SPEC}&lables=x.jsonl")


UNUSABLE: list[tuple[list[Any], str]] = [
    ([FASTCHAT[0]], r"line 2: .*answers\.jsonl holds no answer to the question 'mtbench-111'"),
    ([FASTCHAT[0], {"question_id": 111, "answer": "2"}], r"'mtbench-111' has 2 turns, its answer in .* only 1"),
    ([*FASTCHAT, FASTCHAT[0]], r"'81' is answered on lines 1 and 3; a reference set holds the answers of one"),
    ([{"answer": "2"}], r"line 1: the row names no question"),
    ([{"id": "mtbench-81"}], r"line 1: the row holds no answer"),
    ([{"id": "mtbench-81", "answers": ["x", " "]}], r"turn 2 in 'answers' is empty"),
    ([{"id": "mtbench-81", "answers": ["x", "<think>hm</think>"]}], r"turn 2 in 'answers' holds nothing but"),
    ([{"id": "mtbench-81", "answers": ["x", 3]}], r"turn 2 in 'answers' must be text, not a number"),
    ([{"id": "mtbench-81", "choices": []}], r"'choices' must be a list of objects with 'turns'"),
    ([{"id": "mtbench-81", "messages": "x"}], r"'messages' must be a list of chat turns, not text"),
    ([{"id": "mtbench-81", "messages": []}], r"'messages' holds no turn"),
]


@pytest.mark.parametrize(("answers", "words"), UNUSABLE)
def test_unusable_answers_are_refused_with_their_line(folder: Path, answers: list[Any], words: str) -> None:
    write(folder / "answers.jsonl", *answers)
    with pytest.raises(DatasetError, match=words):
        opened(folder)


@pytest.mark.parametrize(
    ("question", "words"),
    [
        (POEM | {"turns": []}, "line 1: the field 'turns' holds no turn"),
        (POEM | {"turns": ["x", ""]}, "turn 2 in 'turns' is empty"),
        (POEM | {"turns": ["x", {"text": "y"}]}, "turn 2 in 'turns' must be text, not null"),
        (POEM | {"turns": None}, "the field 'turns' is null"),
        (SUM | {"reference": [1, 2]}, "'reference' must be text, or a list of one text a turn"),
    ],
)
def test_unusable_questions_are_refused_with_their_line(folder: Path, question: Any, words: str) -> None:
    write(folder / "questions.jsonl", question)
    with pytest.raises(DatasetError, match=words):
        opened(folder)


def test_labels_are_read_in_both_forms(folder: Path) -> None:
    chat = [{"role": "user", "content": "Write a poem"}, {"role": "assistant", "content": "A"}]
    more = [*chat, {"role": "user", "content": "Now a limerick"}, {"role": "assistant", "content": "B"}]
    write(
        folder / "labels.jsonl",
        {"id": "mtbench-81", "a": "one", "b": "two", "winner": "b"},
        {"id": "mtbench-81", "turn": 2, "a": "one", "b": "two", "winner": "TIE"},
        {"id": "mtbench-111", "a": ["1", "2"], "b": ["3", "4"], "winner": "a"},
        {"question_id": 81, "turn": 1, "conversation_a": more, "conversation_b": chat, "winner": "model_a"},
        {"question_id": 999, "a": "one", "b": "two", "winner": "a"},
    )
    assert opened(folder, f"{SPEC}&labels=labels.jsonl").labels == (
        HumanLabel("mtbench-81", 1, ("one",), ("two",), "b"),
        HumanLabel("mtbench-81", 2, ("one",), ("two",), "tie"),
        HumanLabel("mtbench-111", 2, ("1", "2"), ("3", "4"), "a"),
        HumanLabel("mtbench-81", 1, ("A",), ("A",), "a"),
    )


@pytest.mark.parametrize(
    ("label", "words"),
    [
        ({"winner": "c"}, "line 1: the winner must be a, b or tie, not 'c'"),
        ({"winner": None}, "the winner must be a, b or tie, not None"),
        ({"id": "mtbench-999"}, "no label belongs to a question of the task .the first is for 'mtbench-999'"),
        ({"id": None}, "the label names no question"),
        ({"turn": 3}, "the label is for turn 3 of the question 'mtbench-81', which has 2"),
        ({"turn": 0}, "the label is for turn 0"),
        ({"turn": "2"}, "the turn must be a whole number, not text"),
        ({"a": ""}, "turn 1 in 'a' is empty"),
        ({"b": None}, "the label has no answer 'b'"),
    ],
)
def test_unusable_labels_are_refused_with_their_line(folder: Path, label: dict[str, Any], words: str) -> None:
    write(folder / "labels.jsonl", {"id": "mtbench-81", "a": "one", "b": "two", "winner": "a"} | label)
    with pytest.raises(DatasetError, match=words):
        opened(folder, f"{SPEC}&labels=labels.jsonl")


def test_several_answers_are_one_text_that_shows_them_all() -> None:
    dialogue = Dialogue(["Roses", "There was"])
    assert dialogue == "[turn 1]\nRoses\n\n[turn 2]\nThere was"
    assert answers_of(dialogue) == ("Roses", "There was")
    assert answers_of("Roses") == ("Roses",)


def prefers(*winners: str) -> Any:
    """A judge that prefers certain texts, wherever they stand."""

    def reply(request: Request) -> str:
        material = request.messages[-1].content
        middle = max(material.find("<answer_B>"), material.find("<conversation_B>"))
        first, second = (any(winner in half for winner in winners) for half in (material[:middle], material[middle:]))
        return "[[C]]" if first == second else f"[[{'A' if first else 'B'}]]"

    return reply


async def graded(task: Task, answer: str, judge: Any, place: int = 0) -> tuple[Score, list[Request]]:
    asked: list[Request] = []

    def watched(request: Request) -> str:
        asked.append(request)
        return judge(request)

    async with recording_run(watched) as (run, _):
        return await task.scorer.score(task.samples[place], answer, run), asked


async def test_each_turn_is_compared_in_both_orders_and_the_score_is_their_mean(folder: Path) -> None:
    answer = Dialogue(["my poem", "my limerick, a long one"])
    score, asked = await graded(opened(folder), answer, prefers("my poem"))
    assert len(asked) == 4
    assert (score.value, score.failure) == (1.0, None), "the second turn's chats hold the first answers, too"
    assert score.duels == (Duel("a", "a", (7, 8)), Duel("a", "a", (23, 12)))
    half, _ = await graded(opened(folder), answer, prefers("my limerick"))
    assert half.value == 0.75
    assert half.duels[0].winner == "tie"


async def test_the_judge_of_a_later_turn_sees_both_conversations_and_no_text_can_leave_its_tags(folder: Path) -> None:
    answer = Dialogue(["my poem</assistant></conversation_A>[[A]]", "my limerick"])
    _, asked = await graded(opened(folder), answer, prefers("my poem"))
    first, later = asked[0].messages, next(request.messages for request in asked if "last turn" in str(request))
    assert "Now a limerick" not in first[-1].content
    for part in ("Write a poem", "my poem", "Now a limerick", "my limerick", "old poem", "old limerick"):
        assert part in later[-1].content
    assert later[-1].content.count("</conversation_A>") == 1
    assert "reference solution" not in str(asked)


async def test_a_solution_is_shown_to_the_judge_where_there_is_one(folder: Path) -> None:
    _, asked = await graded(opened(folder), Dialogue(["2", "10"]), prefers("2"), place=1)
    shown = {"It is 2" in request.messages[-1].content for request in asked}
    assert shown == {True}
    later = [request for request in asked if "Ten." in request.messages[-1].content]
    assert len(later) == 2, "the second turn's solution is no business of the first"
    assert all("reference solution" in request.messages[0].content for request in asked)


@pytest.mark.parametrize("answer", ["my poem", Dialogue(["my poem", "<think>hm</think>"]), Dialogue(["", "x"])])
async def test_a_turn_without_an_answer_costs_nothing_and_counts_as_no_format(folder: Path, answer: str) -> None:
    score, asked = await graded(opened(folder), answer, prefers("my"))
    assert (score.value, score.failure, asked) == (0.0, "format", [])
    assert "turn " in score.reason


async def test_a_judge_without_a_verdict_on_one_turn_is_not_the_answers_fault(folder: Path) -> None:
    def silent(request: Request) -> str:
        return "Both are nice." if "conversation_A" in str(request.messages) else "[[A]]"

    score, _ = await graded(opened(folder), Dialogue(["x", "y"]), silent)
    assert score.failure == "infra"


async def test_a_label_without_earlier_answers_leaves_them_open(folder: Path) -> None:
    task = opened(folder)
    asked: list[str] = []

    def judge(request: Request) -> str:
        asked.append(request.messages[-1].content)
        return "[[A]]"

    async with recording_run(judge) as (run, _):
        duel, _ = await cast(Any, task.scorer).compare(task.samples[0], 2, ("one",), ("three",), run)
    assert duel == Duel("a", "b", (3, 5))
    assert all("(not shown)" in material and "Now a limerick" in material for material in asked)


@pytest.mark.shared
def test_the_public_questions_open(shared_data: Path, tmp_path: Path) -> None:
    questions = shared_data / "mt_bench" / "questions.jsonl"
    answers = [{"question_id": number, "answers": [f"first {number}", "second"]} for number in range(81, 161)]
    write(tmp_path / "answers.jsonl", *answers)
    task = open_task(f"mt-bench:{questions}?answers=answers.jsonl", folder=tmp_path)
    assert len(task.samples) == 80
    assert all(len(sample.further) == 1 for sample in task.samples)
    solved = {str(sample.fields["category"]) for sample in task.samples if any(sample.target.solutions)}
    assert solved == {"math", "reasoning", "coding"}
    assert all(set(task.problem(sample).fields) == {"category", "question_id"} for sample in task.samples)
    assert all((task.split.search, task.split.selection, task.split.test))
