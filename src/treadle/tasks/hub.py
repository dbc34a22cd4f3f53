"""``hf:DATASET/SPLIT``: sets of the Hugging Face hub, or a local folder or file in their formats.

The package is an optional part (``pip install 'treadle[hub]'``). No code of a data set is ever run.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, cast

import msgspec

from treadle.errors import DatasetError, UserError
from treadle.tasks.jsonl import read_scored
from treadle.tasks.opening import Opening
from treadle.tasks.rows import Row
from treadle.tasks.task import Task

_READERS = {".parquet": "parquet", ".json": "json", ".jsonl": "json", ".csv": "csv", ".arrow": "arrow"}


def open_hub(opening: Opening) -> Task:
    """Open one split of a set; fields and scorer are named as for ``jsonl:``.

    ``?config=NAME`` names a configuration of the set and ``?revision=`` a version of it. The set may be a folder or a
    file (parquet, JSON lines, CSV, arrow), which is looked for first.

    Raises:
        UserError: The package is not installed.
        DatasetError: There is no such set, configuration or split, or a row cannot be used.
    """
    place, slash, split = opening.spec.place.rpartition("/")
    if not (slash and place and split):
        raise UserError(f"{opening.spec.text!r}: write hf:DATASET/SPLIT, such as hf:openai/gsm8k/test?config=main")
    source = f"{opening.spec.kind}:{place}/{split}"
    config, revision = opening.options.take("config"), opening.options.take("revision")
    local = opening.folder / Path(place).expanduser()
    records = _load(local if local.exists() else place, split, config, revision, source)
    rows = [Row(_plain(record), number, source, "row") for number, record in enumerate(records, 1)]
    if not rows:
        raise DatasetError(f"{source}: the split holds no rows")
    return opening.task(*read_scored(opening, rows))


def _load(place: str | Path, split: str, config: str, revision: str, source: str) -> Iterable[Mapping[str, Any]]:
    try:
        import datasets
    except ImportError as error:
        raise UserError(f"{source} needs the hub part: pip install 'treadle[hub]' ({error})") from None
    load = cast(Any, datasets).load_dataset
    try:
        if isinstance(place, Path) and place.is_file():
            reader = _READERS.get(place.suffix)
            if reader is None:
                raise DatasetError(f"{place}: known files are {', '.join(_READERS)}")
            return load(reader, data_files={split: str(place)}, split=split)
        return load(str(place), config or None, split=split, revision=revision or None)
    except DatasetError:
        raise
    # What a set, its server and the reader of its format can raise has no common root.
    except Exception as error:
        reason = str(error).strip().splitlines()
        raise DatasetError(f"{source} cannot be loaded: {reason[0] if reason else type(error).__name__}") from error


def _plain(record: Mapping[str, Any]) -> dict[str, Any]:
    """The fields that JSON can hold; pictures, sound and dates are left out."""
    fields: dict[str, Any] = {}
    for name, value in record.items():
        try:
            fields[name] = msgspec.json.decode(msgspec.json.encode(value, enc_hook=_refuse))
        except (TypeError, ValueError, msgspec.MsgspecError):
            continue
    return fields


def _refuse(value: object) -> Any:
    raise TypeError(type(value).__name__)
