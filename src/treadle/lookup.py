"""A user's own ``module:function``, found in a folder first, then among what is installed."""

from __future__ import annotations

import difflib
import hashlib
import importlib
import importlib.util
import inspect
import sys
import traceback
from pathlib import Path
from types import ModuleType
from typing import Any

from treadle.errors import UserError


def looks_like_path(name: str) -> bool:
    """Whether a name has the form ``module:function``."""
    module, _, function = name.partition(":")
    return function.isidentifier() and all(part.isidentifier() for part in module.split("."))


def find_module(name: str, folder: Path) -> ModuleType | None:
    """A user's module, or ``None`` when there is none of that name.

    A file of the folder wins over an installed module of the same name. The folder is put on the module path, so that
    the user's files can import each other.

    Raises:
        UserError: The module is there and fails to load; with the line.
    """
    folder = folder.absolute()
    file = folder.joinpath(*name.split(".")).with_suffix(".py")
    place = str(folder)
    if file.is_file() and place not in sys.path:
        sys.path.insert(0, place)
    try:
        if file.is_file():
            return _load(name, file)
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name and (name == error.name or name.startswith(f"{error.name}.")):
            return None
        raise UserError(f"{name} cannot be loaded: {_line(error)}{_place(error, file)}") from error
    except (Exception, SystemExit) as error:
        raise UserError(
            f"{name} cannot be loaded: {type(error).__name__}: {_line(error)}{_place(error, file)}"
        ) from error


def find_object(name: str, folder: Path) -> Any:
    """What ``module:function`` names.

    Raises:
        UserError: No such module, no such name in it, or the module fails to load.
    """
    path, _, attribute = name.partition(":")
    module = find_module(path, folder)
    if module is None:
        raise UserError(f"{name}: there is no module {path!r} in {folder} or among what is installed")
    if hasattr(module, attribute):
        return getattr(module, attribute)
    near = difflib.get_close_matches(attribute, dir(module), n=1)
    hint = f"; did you mean {near[0]}?" if near else ""
    raise UserError(f"{name}: the module {path!r} has no {attribute!r}{hint}")


def _load(name: str, file: Path) -> ModuleType:
    known = sys.modules.get(name)
    if known is not None and getattr(known, "__file__", None) == str(file):
        return known
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise UserError(f"{file} cannot be loaded as a Python module")
    module = importlib.util.module_from_spec(spec)
    # A file named like a module that is already there must not replace it for everyone else.
    shadows = known is not None
    if not shadows:
        sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        if not shadows:
            sys.modules.pop(name, None)
        raise
    return module


def _line(error: BaseException) -> str:
    return (str(error).splitlines() or [""])[0]


def _place(error: BaseException, file: Path) -> str:
    if isinstance(error, SyntaxError):
        return ""
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if frame.filename == str(file):
            return f" ({file}, line {frame.lineno})"
    return ""


def source_of(function: object) -> str:
    """What tells a user's function from an earlier one of its name; empty for whatever is no function.

    Args:
        function: A function, wrapped or not.
    """
    plain = inspect.unwrap(function) if callable(function) else function
    if not inspect.isfunction(plain):
        return ""
    try:
        text = inspect.getsource(plain).encode()
    except (OSError, TypeError):
        text = plain.__code__.co_code
    return hashlib.sha256(text).hexdigest()[:16]
