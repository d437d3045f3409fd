"""Read a block that `Recall.render` wrote."""

from __future__ import annotations

import json
import re

from recollect.errors import UsageError
from recollect.recall.rendering import Record


def read_block(block: str) -> list[Record]:
    """
    Return the records of a rendered block.

    Raises:
        UsageError: *block* is not a rendered block.
    """
    first, *lines, last = block.split("\n") if "\n" in block else (block, "")
    opening = re.fullmatch(r"<memory ([0-9a-f]+)> .*", first)
    if opening is None or last != f"</memory {opening[1]}>":
        raise UsageError(f"this is not a rendered block of memory: {block[:60]!r}")
    return [_read_line(line) for line in lines]


def _read_line(line: str) -> Record:
    try:
        return Record(**json.loads(line))
    except (ValueError, TypeError) as error:
        raise UsageError(f"this line of a block of memory is no record: {line[:60]!r}") from error
