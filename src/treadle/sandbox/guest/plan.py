"""What a sandbox is told to do, as it crosses into it in JSON; imported for its types only."""

from __future__ import annotations

from typing import TypedDict


class Limits(TypedDict):
    """What work may take; see `treadle.sandbox.base.Limits`."""

    seconds: float
    cpu_seconds: int
    memory: int
    address_space: int
    processes: int
    file_bytes: int
    open_files: int


class Reach(TypedDict):
    """Files that Landlock leaves within reach."""

    readable: list[str]
    writable: list[str]


class Ready(TypedDict):
    """Modules that a warm interpreter holds ready for tests of programs; see `treadle.sandbox.bundle`."""

    modules: list[str]
    digest: str


class Place(TypedDict):
    """Where a work folder is seen.

    Attributes:
        staged: Where the box has it before.
        at: The place.
        on_top: Paths below the place, shown by the box there, that are to lie over the folder.
    """

    staged: str
    at: str
    on_top: list[str]


class Plan(TypedDict):
    """A piece of work, or a box that waits for some.

    Attributes:
        outer: ``namespaces`` where the box is to be made first.
        binds: Files and folders of this machine: their paths, where they are seen, and whether they may be written.
        place: Where the work folder is moved to inside; ``None`` where there is none, or it is where it shall be.
        links: Symbolic links with where they point.
        texts: Files with their content.
        network: ``pairs``, ``none``, ``loopback`` (see `seccomp.filter_program`) or ``host``.
        serve: Descriptor of the socket to serve on; ``None`` for a single piece of work.
        ready: What a box that serves holds ready.
        report: Descriptor that the report of a single piece of work goes to, or -1.
        payload: Descriptor of the files for the work folder, or -1.
        argv: The command; ``None`` for a program.
        program: Where the program's text is, among the files.
        folder: The work folder.
        env: The environment.
        uid: The user to become, or ``None``.
        landlock: What stays within reach where nothing else hides the rest, or ``None``.
        limits: What it may take.
        scratch: Private folders: memory where the work is alone, else watched for their size.
        covered: What is to be read and lies where a cell has its private folders.
        private: Whether the folders in ``/tmp`` are still to be made.
        alone: Whether the work has a process namespace of its own.
        owner: The user that owns the work folder's files, where they are to look like those of ``uid``; else ``None``.
    """

    outer: str
    binds: list[tuple[str, str, bool]]
    place: Place | None
    links: list[tuple[str, str]]
    texts: list[tuple[str, str]]
    network: str
    serve: int | None
    ready: Ready | None
    report: int
    payload: int
    argv: list[str] | None
    program: str
    folder: str
    env: dict[str, str]
    uid: int | None
    landlock: Reach | None
    limits: Limits
    scratch: list[str]
    covered: list[str]
    private: bool
    alone: bool
    owner: int | None


class Report(TypedDict, total=False):
    """What became of a piece of work.

    ``cause`` is the limit that ended it (``seconds``, ``cpu``, ``memory``, ``processes``, ``files``),
    ``stopped`` where it was told to end, ``refused`` where it was never
    started, for the reason ``why``, and else empty.
    """

    exit: int | None
    signal: int | None
    cause: str
    why: str
    seconds: float
    peak: int
