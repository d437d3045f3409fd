"""Reader of files in any supported format, which it detects value by value."""

from __future__ import annotations

import json
import re
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, tzinfo
from itertools import chain, islice
from typing import BinaryIO, Final, cast

from recollect.errors import UsageError
from recollect.importers import input_files as sources
from recollect.importers.form_detection import (
    ThreadNaming,
    naming_of,
    read_chat_part,
    read_element,
    read_value,
)
from recollect.importers.import_entries import (
    Changed,
    Difference,
    ImportOptions,
    Refused,
    Row,
    shown,
)
from recollect.importers.input_files import (
    LINE_BYTES_MAX,
    InputFile,
    InputLine,
    decoded,
    read_first,
    read_lines,
)
from recollect.importers.json_stream import NESTED, CutOffError, Scanner
from recollect.records import Json
from recollect.text.coded_text import reason_of, with_code

_HEAD_LINES: Final = 20
"""Lines read in search of a first JSON value, before a file counts as unknown."""
_LINES_ENDINGS: Final = (".jsonl", ".ndjson")
FILES_MAX: Final = 10_000
OTHER_FILES: Final = Difference("other files of the archive were left out")
_EXPORT_FILE: Final = re.compile(
    r"(?:.*/)?(?:conversations(?:-\d+)?\.jsonl?|(?:memories|projects)\.json)"
)
"""The files of ChatGPT's and Claude's exports that hold conversations or memories."""
_JSON_FILE: Final = re.compile(r".*\.(?:json|jsonl|ndjson)", re.IGNORECASE)
_ENCRYPTED: Final = 1
"""The bit of a zip entry's flags that marks it as encrypted."""


def read_rows(source: InputFile, *, zone: tzinfo = UTC, thread: str | None = None) -> Iterator[Row]:
    """
    Yield the rows of *source* in order, reading it as a stream.

    Supported are message rows with a conversation, LoCoMo's samples, chats as OpenAI's interface
    takes them and as LangChain writes them, exports of ChatGPT and Claude, sessions of Claude Code,
    memories of mem0, dumps of LangGraph's stores, the file of the MCP memory server, graphs of
    Graphiti, and Recollect's own exports; as JSON Lines, as one JSON document, or in a zip archive.

    Args:
        source: An open file.
        zone: The time zone of times without one.
        thread: The thread for a chat without a name; the file's name if ``None``. Several chats of
            one file are numbered.

    Raises:
        UsageError: The file is empty, or its format is unknown.
    """
    if source.is_zip:
        return _read_archive(source, zone=zone, thread=thread)
    return _read_file(source, zone=zone, thread=thread)


def _read_archive(source: InputFile, *, zone: tzinfo, thread: str | None) -> Iterator[Row]:
    with opened_archive(source) as archive:
        files, others = files_to_read(archive, source.name)
        for name in files:
            with opened_file(archive, name, source) as file:
                try:
                    rows = _read_file(file, zone=zone, thread=thread)
                except UsageError as error:
                    yield Refused(place=name, reason=reason_of(error))
                    continue
                for row in rows:
                    yield replace(row, place=f"{name}, {row.place}")
    if others:
        yield Changed(place="the archive", what=OTHER_FILES, count=others)


def _read_file(source: InputFile, *, zone: tzinfo, thread: str | None) -> Iterator[Row]:
    reading = ImportOptions(name=source.plain_name, thread=thread or source.stem, zone=zone)
    first = read_first(source.stream)
    # A document on one line may be longer than a line may be: it is read as a stream.
    if isinstance(first, bytes) and len(first) > LINE_BYTES_MAX and _opening_bracket(first):
        return _read_document(source, first, reading)
    lines = read_lines(source.stream, first)
    head = list(islice(lines, 1))
    if not head:
        raise UsageError(
            with_code(
                "empty_file",
                f"{source.name!r} is empty: there is nothing to import",
                name=source.name,
            )
        )
    if _is_value(head[0]):
        head += islice(lines, 1)
        is_alone = len(head) == 1 and not source.plain_name.endswith(_LINES_ENDINGS)
        return _read_values(
            chain(head, lines), naming_of(reading, source.listed, is_alone=is_alone)
        )
    if isinstance(head[0], InputLine) and _opening_bracket(head[0].content):
        head += islice(lines, 1)
        # A broken first row still means a file of rows; a list's elements end in commas.
        if _opening_bracket(head[0].content) == "[" or not any(map(_is_value, head)):
            return _read_document(source, _join_lines(head), reading)
    else:
        head += islice(lines, _HEAD_LINES)
        if not any(map(_is_value, head)):
            raise UsageError(_explain_unknown_form(source, head[0]))
    return _read_values(chain(head, lines), naming_of(reading, source.listed, is_alone=False))


def _opening_bracket(content: bytes) -> str:
    """Return the bracket with which *content* begins; an empty text if it begins otherwise."""
    first = content.removeprefix(b"\xef\xbb\xbf").lstrip()[:1]
    return first.decode() if first in (b"[", b"{") else ""


def _join_lines(lines: list[InputLine | Refused]) -> bytes:
    """Return the bytes of *lines*, so that they can be read again as part of a document."""
    held = {line.number: line for line in lines if isinstance(line, InputLine)}
    last = max(held)
    # Blank lines as well, so that an error names the right line of the file.
    before = b"".join(
        (held[number].content if number in held else b"") + b"\n" for number in range(1, last)
    )
    # No line break is added where a file was cut off: in a string it would be a fault.
    return before + held[last].content + (b"\n" if held[last].is_whole else b"")


def _is_value(line: InputLine | Refused) -> bool:
    """Return True if *line* is a complete JSON object or list."""
    if isinstance(line, Refused):
        return False
    try:
        return isinstance(json.loads(decoded(line)), dict | list)
    except (ValueError, RecursionError):
        return False


def _explain_unknown_form(source: InputFile, head: InputLine | Refused) -> str:
    if isinstance(head, Refused):
        return f"{source.name!r}, {head.place}: {head.reason}"
    if head.content.startswith((b"\xff\xfe", b"\xfe\xff")):
        return with_code(
            "utf16", f"{source.name!r} is UTF-16: convert it to UTF-8", name=source.name
        )
    try:
        begins = shown(decoded(head)[:40])
    except UsageError as error:
        return f"{source.name!r}, {head.place}: {error}"
    return with_code(
        "unknown_text",
        f"{source.name!r} is neither JSON Lines nor a JSON document: it begins with {begins}",
        name=source.name,
        begins=begins,
    )


def _read_values(lines: Iterator[InputLine | Refused], naming: ThreadNaming) -> Iterator[Row]:
    """Yield the rows of a file with one JSON value per line."""
    for line in lines:
        if isinstance(line, Refused):
            yield line
            continue
        try:
            value = json.loads(decoded(line))
        except UsageError as error:
            yield Refused(place=line.place, reason=reason_of(error))
        except (ValueError, RecursionError) as error:
            yield _refuse_line(line, error)
        else:
            yield from read_value(value, line.place, naming)
    yield from naming.end("the end")


def _refuse_line(line: InputLine, error: Exception) -> Refused:
    # Only the last line may lack a line break, so invalid JSON in it means a truncated file.
    if not line.is_whole and not isinstance(error, RecursionError):
        reason = with_code(
            "cut_line",
            "the file ends in the middle of this line: it was cut off; get a whole copy and "
            "import it again",
        )
        return Refused(place=line.place, reason=reason, is_cut=True)
    why = (
        NESTED
        if isinstance(error, RecursionError)
        else with_code("not_json", f"it is not JSON ({error})", fault=str(error))
    )
    return Refused(place=line.place, reason=why)


def _read_document(source: InputFile, begun: bytes, reading: ImportOptions) -> Iterator[Row]:
    """Yield the rows of one JSON document, element by element."""
    scanner = Scanner(source.stream, begun)
    naming = naming_of(reading, source.listed, is_alone=True)
    number = 0
    try:
        if scanner.next_character() == "[":
            naming = naming_of(reading, source.listed, is_alone=False)
            for number, value in enumerate(scanner.elements(), start=1):
                yield from read_element(value, f"element {number}", naming)
        else:
            whole: dict[str, Json] = {}
            for name in scanner.fields():
                # A chat's messages are read one by one: together they may be too large.
                if name == "messages" and scanner.next_character() == "[":
                    chat = naming.next_chat()
                    for number, value in enumerate(scanner.elements(), start=1):
                        yield from read_chat_part(value, f"message {number}", chat, naming, number)
                else:
                    whole[name] = scanner.value()
            if not naming.chats:
                yield from read_value(whole, "the document", naming)
        if not scanner.is_at_end():
            reason = with_code(
                "after_document",
                "something follows the end of the document: write one JSON value a line",
            )
            yield Refused(place="the end", reason=reason, is_cut=True)
    except CutOffError as error:
        place = f"after element {number}" if number else "the document"
        yield Refused(place=place, reason=reason_of(error), is_cut=True)
    yield from naming.end("the end")


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
