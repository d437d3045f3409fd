"""Zip archives of exports: checks them, and picks the files in them that are imported."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO, Final, cast

from recollect.errors import UsageError
from recollect.importers import input_files as sources
from recollect.importers.import_entries import Difference, shown
from recollect.importers.input_files import InputFile
from recollect.text.coded_text import with_code

FILES_MAX: Final = 10_000
OTHER_FILES: Final = Difference("other files of the archive were left out")
_EXPORT_FILE: Final = re.compile(
    r"(?:.*/)?(?:conversations(?:-\d+)?\.jsonl?|(?:memories|projects)\.json)"
)
"""The files of ChatGPT's and Claude's exports that hold conversations or memories."""
_JSON_FILE: Final = re.compile(r".*\.(?:json|jsonl|ndjson)", re.IGNORECASE)
_ENCRYPTED: Final = 1
"""The bit of a zip entry's flags that marks it as encrypted."""


@contextmanager
def opened_archive(source: InputFile) -> Iterator[zipfile.ZipFile]:
    """
    Open *source* as a zip archive, after checking its directory.

    Raises:
        UsageError: It is cut off or damaged, holds more than ``FILES_MAX`` files, or unpacks to far
            more than its size.
    """
    try:
        archive = zipfile.ZipFile(source.packed)
    except (zipfile.BadZipFile, OSError, ValueError) as error:
        msg = with_code(
            "broken_zip",
            f"{source.name!r} is a zip archive that was cut off or damaged: get a whole copy",
            name=source.name,
        )
        raise UsageError(msg) from error
    with archive:
        files = archive.infolist()
        if len(files) > FILES_MAX:
            msg = with_code(
                "zip_too_many",
                f"{source.name!r} holds {len(files)} files, more than {FILES_MAX} (FILES_MAX)",
                name=source.name,
                count=len(files),
                limit=FILES_MAX,
            )
            raise UsageError(msg)
        # The directory states the unpacked sizes, so a zip bomb is refused before it is unpacked.
        unpacked, packed = sum(each.file_size for each in files), source.size_bytes or 0
        if unpacked > max(sources.UNPACKED_FREE_BYTES, sources.UNPACKED_TIMES_MAX * packed):
            raise UsageError(
                with_code(
                    "swollen",
                    f"{source.name!r} unpacks to {unpacked} bytes, more than "
                    f"{sources.UNPACKED_TIMES_MAX} times its size (UNPACKED_TIMES_MAX), as no "
                    "export does: unpack it yourself if you trust it, and name the files",
                    times=sources.UNPACKED_TIMES_MAX,
                )
            )
        yield archive


def files_to_read(archive: zipfile.ZipFile, name: str) -> tuple[list[str], int]:
    """
    Return the names of the files of *archive* to read, sorted, and the number of other files.

    These are the conversations and memories of an export or, without any, all JSON files.

    Raises:
        UsageError: The archive holds no JSON file.
    """
    files = [each.filename for each in archive.infolist() if not each.is_dir()]
    found = [each for each in files if _EXPORT_FILE.fullmatch(each)]
    found = found or [each for each in files if _JSON_FILE.fullmatch(each)]
    if not found:
        msg = with_code(
            "zip_without_json",
            f"{name!r} is a zip archive without JSON files: it has {shown(', '.join(files))}",
            name=name,
        )
        raise UsageError(msg)
    return sorted(found), len(files) - len(found)


@contextmanager
def opened_file(archive: zipfile.ZipFile, file: str, source: InputFile) -> Iterator[InputFile]:
    """
    Open a file of *archive*.

    Raises:
        UsageError: It is encrypted, or compressed in an unsupported way.
    """
    if archive.getinfo(file).flag_bits & _ENCRYPTED:
        msg = with_code(
            "zip_encrypted",
            f"{source.name!r} is encrypted: unpack it with its password, and name the files",
            name=source.name,
        )
        raise UsageError(msg)
    try:
        stream = archive.open(file)
    except (NotImplementedError, RuntimeError, zipfile.BadZipFile) as error:
        msg = with_code(
            "broken_zip",
            f"{file!r} of {source.name!r} cannot be unpacked ({error}): unpack it yourself",
            name=source.name,
        )
        raise UsageError(msg) from error
    with stream:
        name = file.rsplit("/", 1)[-1]
        yield InputFile(
            name=name,
            stream=cast("BinaryIO", stream),
            packed=source.packed,
            size_bytes=source.size_bytes,
            listed=source.listed,
        )
