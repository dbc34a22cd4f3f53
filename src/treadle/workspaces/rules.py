r"""Which files belong to a patch, and which are kept from workers: rules on names alone.

**Test files** are left out of a patch unless tests are kept: every file below a folder called ``test``, ``tests``,
``__tests__``, ``spec`` or ``specs``; ``conftest.py``, ``test.py`` and ``tests.py``; names that begin with ``test_`` or
end with ``_test``, ``_tests`` or ``_spec`` before the ending of a programming language; ``*.test.js`` and
``*.spec.ts`` with their kin; ``*Test.java``, ``*Tests.java`` and the same of Kotlin, Scala and C#. A module
``testing.py`` and a folder ``testing`` are no tests: libraries offer such things to others.

**Scratch files** are left out only where they are new. Anywhere: what editors, patches and caches leave behind
(``*.orig``, ``*.rej``, ``*.bak``, ``*~``, ``*.swp``, ``*.pyc``, ``__pycache__``, ``.pytest_cache`` and the like,
``*.egg-info``). At the top of the tree: names whose first word is ``reproduce``, ``repro``, ``debug``, ``scratch``,
``tmp``, ``temp`` or, unless tests are kept, ``test``; ``*.patch``, ``*.diff``, ``*.log``.

**Keys** are not copied unless they are tracked: ``.env`` and ``.env.*`` (but no example or template), ``.envrc``,
``*.pem``, ``*.key``, ``*.p12``, ``*.pfx``, ``id_rsa*`` and its kin, ``.netrc``, ``.npmrc``, ``.pypirc``,
``.git-credentials``, ``credentials*.json``, ``service-account*.json``, ``*.keystore``, ``.htpasswd``.
"""

from __future__ import annotations

import re

from treadle.workspaces.tree import parents

_TEST_FOLDERS = frozenset({"test", "tests", "__tests__", "spec", "specs"})
_TEST_NAME = re.compile(
    r"(conftest|tests?)\.py"
    r"|test_[^/]*\.(py|pyi|pyx|c|cc|cpp|rb|rs|sh|jl|r|lua|php|ex|exs)"
    r"|[^/]*_(tests?|spec)\.(py|go|rb|rs|c|cc|cpp|dart|exs|jl|lua|php|js|ts)"
    r"|[^/]*\.(test|spec)\.[cm]?[jt]sx?"
    r"|[^/]*Tests?\.(java|kt|scala|cs|groovy)",
    re.DOTALL,
)
_LITTER_FOLDERS = frozenset(
    ["__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".hypothesis", ".tox", ".nox", ".eggs", ".cache"]
    + [".ipynb_checkpoints"]
)
_LITTER_NAME = re.compile(r".*(\.(orig|rej|bak|pyc|pyo|swp|swo)|~)|\.coverage(\..*)?|\.DS_Store|nohup\.out", re.DOTALL)
_SCRATCH_NAME = re.compile(
    r"(reproduc(e|er|ing|tion)|repro|debug|scratch|tmp|temp)([_\-. \d].*)?|.*\.(patch|diff|log)",
    re.DOTALL | re.IGNORECASE,
)
_TRIAL_NAME = re.compile(r"test[_\-.\d].*", re.DOTALL | re.IGNORECASE)
_KEY_NAME = re.compile(
    r"\.env|\.env\.(?!(example|sample|template|dist|defaults?)$).*|\.envrc"
    r"|.*\.(pem|key|p12|pfx|jks|keystore)|id_(rsa|dsa|ecdsa|ed25519)[^/]*"
    r"|\.(netrc|npmrc|pypirc|git-credentials|htpasswd|pgpass)|_netrc"
    r"|(credentials|service[-_]account)[^/]*\.json|client_secret[^/]*\.json",
    re.DOTALL | re.IGNORECASE,
)
_GIT_NAME = re.compile(r"(\.git|git~1)[ .]*(:.*)?", re.DOTALL | re.IGNORECASE)

TESTS = "test files are left out"
SCRATCH = "a scratch file"
UNTRACKED = "it was there at the start and is not tracked"
FOREIGN = "it belongs to another repository"
ENVIRONMENT = "it belongs to an environment"
LARGE_FILE = "it is larger than 64 MiB"
IN_THE_WAY = "what was in its place at the start stays there"
TOO_MUCH = "with it the changed files would be larger than 64 MiB together"
SPECIAL = "it is neither a file nor a link"
WITHHELD = "the folder has a file of that name that was not copied"
NO_GIT_NAME = "git takes no file of that name"


def is_test(path: str) -> bool:
    """Whether a path is a test's."""
    *folders, name = path.split("/")
    return not _TEST_FOLDERS.isdisjoint(folders) or _TEST_NAME.fullmatch(name) is not None


def is_litter(path: str) -> bool:
    """Whether a path is what tools leave behind."""
    *folders, name = path.split("/")
    if _LITTER_NAME.fullmatch(name):
        return True
    return any(is_litter_folder(folder) for folder in folders)


def is_litter_folder(name: str) -> bool:
    """Whether a folder of this name holds what tools leave behind."""
    return name in _LITTER_FOLDERS or is_installed_as(name)


def is_installed_as(name: str) -> bool:
    """Whether a folder or file of this name says that the tree is installed in editable form."""
    return name.endswith((".egg-info", ".egg-link"))


def is_scratch(path: str, *, keep_tests: bool = False) -> bool:
    """Whether a new file is for its maker only."""
    if is_litter(path):
        return True
    if "/" in path:
        return False
    return bool(_SCRATCH_NAME.fullmatch(path)) or (not keep_tests and bool(_TRIAL_NAME.fullmatch(path)))


def is_key(path: str) -> bool:
    """Whether a file's name says that it holds keys."""
    return _KEY_NAME.fullmatch(path.rpartition("/")[2]) is not None


def is_git_name(path: str) -> bool:
    """Whether git would take a part of the path for its own and refuse it."""
    return any(_GIT_NAME.fullmatch(each) for each in path.split("/"))


def reason_against(path: str, *, new: bool, keep_tests: bool) -> str:
    """Why a change is no part of a patch by its name alone; empty where it is one.

    Args:
        path: From the top.
        new: Whether the file was not there at the start.
        keep_tests: Whether test files belong to a patch.
    """
    if is_git_name(path):
        return NO_GIT_NAME
    if not keep_tests and is_test(path):
        return TESTS
    if new and is_scratch(path, keep_tests=keep_tests):
        return SCRATCH
    return ""


def in_environment(path: str) -> str:
    """The outermost folder of the path that is an environment by its name alone; empty where none is."""
    return next((each for each in parents(path) if each.rpartition("/")[2] == "node_modules"), "")
