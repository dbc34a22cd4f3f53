"""From the url in treadle.toml to an open store."""

from __future__ import annotations

from pathlib import Path

from treadle.errors import NotYetError, UserError
from treadle.store.base import Store

_PREFIX = "sqlite:///"
_MEMORY = ":memory:"
_OWN = ".treadle"
_IGNORE = "# Made by Treadle: what it keeps is nobody's source.\n*\n"


def open_store(url: str, folder: Path) -> Store:
    """Open a store, and make it with its folders where there is none.

    Args:
        url: ``sqlite:///relative.db``, ``sqlite:////absolute.db``, ``sqlite:///~/in-home.db`` or
            ``sqlite:///:memory:``, which is gone when it is closed.
        folder: What a relative path is relative to.

    Raises:
        NotYetError: The url is PostgreSQL's.
        UserError: The url is of no known kind, or the file cannot be used; the text says why and what to do.
    """
    scheme = url.partition(":")[0].partition("+")[0].lower()
    if scheme in {"postgresql", "postgres"}:
        raise NotYetError("a postgresql:// store")
    if not url.startswith(_PREFIX):
        raise UserError("[store] url must begin with sqlite:/// (three slashes), as in sqlite:///.treadle/treadle.db")
    path = url.removeprefix(_PREFIX)
    if not path or "?" in path or "\x00" in path:
        raise UserError(
            "[store] url must be sqlite:/// and a path, with no options, as in sqlite:///.treadle/treadle.db"
        )
    if path != _MEMORY:
        path = str(_ready(folder.absolute() / Path(path).expanduser()))

    from treadle.store.sql import SqlStore

    return SqlStore(_PREFIX + path)


def _ready(path: Path) -> Path:
    try:
        is_folder = path.is_dir()
        is_new = not path.parent.exists()
        path.parent.mkdir(parents=True, exist_ok=True)
        if is_new and path.parent.name == _OWN:
            (path.parent / ".gitignore").write_text(_IGNORE)
    except OSError as error:
        raise UserError(
            f"{path.parent} cannot be made ({error.strerror}); name another file under [store] url"
        ) from None
    if is_folder:
        raise UserError(f"{path} is a folder; [store] url must name a file")
    return path
