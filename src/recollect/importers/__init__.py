"""Imports of other programs' conversations and memories, from files and from Redis."""

from __future__ import annotations

from recollect.importers.file_forms import read_rows
from recollect.importers.import_entries import (
    Archived,
    Changed,
    ImportedMemory,
    Incoming,
    Refused,
    Row,
)
from recollect.importers.import_run import BATCH_ROWS, FileReport, ImportProgress, import_file
from recollect.importers.input_files import LINE_BYTES_MAX, InputFile, open_source
from recollect.importers.redis_keys import RedisSelection, import_redis
from recollect.text.time_zones import read_zone

__all__ = (
    "BATCH_ROWS",
    "LINE_BYTES_MAX",
    "Archived",
    "Changed",
    "FileReport",
    "ImportProgress",
    "ImportedMemory",
    "Incoming",
    "InputFile",
    "RedisSelection",
    "Refused",
    "Row",
    "import_file",
    "import_redis",
    "open_source",
    "read_rows",
    "read_zone",
)
