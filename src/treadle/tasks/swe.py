"""``swe:FILE?repos=DIR``: issues of real repositories, to be resolved by a patch (SWE-bench, arXiv:2310.06770)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

from treadle.parsing.test_logs import LOG_STYLES, LogStyle
from treadle.tasks.base import Sample
from treadle.tasks.opening import Opening
from treadle.tasks.rows import number_ids
from treadle.tasks.scorers.swe import INSTANCE, SweScorer
from treadle.tasks.spec import Options
from treadle.tasks.swe_repositories import COMMANDS, Found, Layout, find_repositories, interpreter, with_interpreter
from treadle.tasks.swe_rows import Instance, question, read_instance, read_instance_rows
from treadle.tasks.task import Task
from treadle.workspaces.base import NETWORKS, Network, Repository

_SECONDS = 1800.0
_MIB = 2**20
_STYLES: dict[str, LogStyle] = {"django/django": "django", "sympy/sympy": "sympy"}
_LAID_OUT = Path(".treadle") / "swe"


def open_swe(opening: Opening) -> Task:
    """Open rows with SWE-bench's own fields.

    Options: ``repos``, the folder with the repositories; ``hints=true`` to show what was said of an issue; ``python``,
    the interpreter of the tests (else that beside the repository, else the one on the ``PATH``); ``place``, where
    commands see a copy; ``setup``, a command that makes a copy ready; ``network``, when commands may reach it;
    ``test``, the test command with ``{files}``; ``style`` of its log; ``seconds`` and ``memory`` (MiB) it may take.

    Raises:
        DatasetError: A row cannot be used; names the line.
        UserError: A repository or an interpreter is missing.
    """
    options = opening.options
    asked = _Asked.of(options)
    hints = options.one_of("hints", ("false", "true")) == "true"
    folder = options.take("repos")
    options.finish()
    if not folder:
        options.refuse("repos", "is missing: name the folder that holds the repositories")
    rows = read_instance_rows(opening.path())
    instances = [read_instance(row) for row in rows]
    number_ids(rows, "instance_id")
    questions = [question(row, hints=hints) for row in rows]
    home = (opening.folder / Path(folder).expanduser()).absolute()
    found = find_repositories(home, instances, (opening.folder / _LAID_OUT).absolute())
    layouts = {each.id: asked.layout(each, found[each.id], opening.folder) for each in instances}
    samples = [
        Sample(
            instance.id,
            text,
            instance.patch,
            fields={"repo": instance.repo, "version": instance.version, "base_commit": instance.base_commit},
            hidden={INSTANCE: instance},
            workspace=layouts[instance.id].ready,
            line=row.line,
        )
        for row, instance, text in zip(rows, instances, questions, strict=True)
    ]
    return opening.task(samples, SweScorer(layouts))


@dataclass(frozen=True, slots=True)
class _Asked:
    """What the options say of repositories and tests."""

    python: str
    place: Path | None
    setup: str
    network: Network
    test: str
    style: LogStyle | None
    seconds: float
    memory: int

    @classmethod
    def of(cls, options: Options) -> _Asked:
        place = options.take("place")
        if place and not Path(place).is_absolute():
            options.refuse("place", f"must be an absolute path, not {place!r}")
        seconds = options.number("seconds", _SECONDS)
        if not 0 < seconds < math.inf:
            options.refuse("seconds", "must be above 0: tests need time to run")
        named = options.take("style")
        style: LogStyle | None = next((each for each in LOG_STYLES if each == named), None)
        if named and style is None:
            options.refuse("style", f"must be one of {', '.join(LOG_STYLES)}, not {named!r}")
        reach = options.one_of("network", NETWORKS)
        return cls(
            options.take("python"),
            Path(place) if place else None,
            options.take("setup"),
            next(each for each in NETWORKS if each == reach),
            options.take("test"),
            style,
            seconds,
            options.whole("memory", 4096, least=1) * _MIB,
        )

    def layout(self, instance: Instance, found: Found, folder: Path) -> Layout:
        """How an instance is worked on and tested."""
        python = interpreter(self.python, folder) if self.python else found.python or interpreter("python3", folder)
        repository = Repository(
            found.path,
            place=self.place,
            setup=self.setup,
            network=self.network,
            test_seconds=self.seconds,
            memory=self.memory,
        )
        style = self.style or _STYLES.get(instance.repo, "pytest")
        return Layout(with_interpreter(repository, python), python, self.test or COMMANDS[style], style, found.clone)
