"""Input files, plain or compressed, from a path or standard input, read line by line."""

from __future__ import annotations

import gzip
import io
import lzma
import sys
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final, cast

from recollect.errors import NotFoundError, UsageError
from recollect.importers.import_entries import Refused
from recollect.text.coded_text import with_code

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

LINE_BYTES_MAX: Final = 32 * 1024 * 1024
"""The longest line in bytes, and the longest element of a JSON list; longer ones are refused."""

STDIN: Final = "-"
_GZIP: Final = b"\x1f\x8b"
_XZ: Final = b"\xfd7zXZ\x00"
_PEEK_BYTES: Final = 6
"""The length of the longest signature above and below."""
_BUFFER_BYTES: Final = 1 << 16
_ZIP: Final = b"PK\x03\x04"
UNPACKED_FREE_BYTES: Final = 256 * 1024 * 1024
"""A compressed file may always unpack to this size."""
UNPACKED_TIMES_MAX: Final = 200
"""Beyond ``UNPACKED_FREE_BYTES``, a file may unpack to this many times its compressed size."""
DAMAGE: Final = (EOFError, OSError, zlib.error, lzma.LZMAError, zipfile.BadZipFile)
"""The errors that reading a damaged or truncated file raises."""


@dataclass(frozen=True, slots=True)
class InputLine:
    """A line of a file, without its line break; *number* counts from 1."""

    number: int
    content: bytes
    is_whole: bool
    """Whether a line break ended it."""

    @property
    def place(self) -> str:
        """Return its place in the file, for messages."""
        return f"line {self.number}"


@dataclass(slots=True)
class ListProgress:
    """How much was returned of a list that is read as a whole, as a document on one line is."""

    share: float = 1.0
    reached: float = 0.0

    def fraction(self, read: float) -> float:
        """Return the fraction of a file of which *read* was read; it never falls."""
        self.reached = max(self.reached, read * self.share)
        return self.reached


@dataclass(frozen=True, slots=True, kw_only=True)
class InputFile:
    """An open file: *stream* yields its content unpacked, *packed* is the file itself."""

    name: str
    stream: BinaryIO
    packed: BinaryIO
    size_bytes: int | None
    is_zip: bool = False
    """Whether it is an archive of files, which `recollect.importers.file_forms` reads."""
    listed: ListProgress = field(default_factory=ListProgress)

    @property
    def stem(self) -> str:
        """Return the name without the endings of its format and compression."""
        plain = Path(self.plain_name)
        return plain.stem or plain.name

    @property
    def plain_name(self) -> str:
        """Return the name without the ending of its compression."""
        return self.name.removesuffix(".gz").removesuffix(".xz")

    @property
    def fraction(self) -> float | None:
        """Return the fraction of the file that was read; ``None`` if its size is unknown."""
        if not self.size_bytes:
            return None
        return self.listed.fraction(min(1.0, self.packed.tell() / self.size_bytes))


def check_file(path: str) -> None:
    """
    Check that *path* can be read as a file; ``-`` is standard input.

    Raises:
        NotFoundError: The file does not exist.
        UsageError: It is a folder, or cannot be a path.
    """
    if path == STDIN:
        return
    try:
        place = Path(path)
        is_folder, exists = place.is_dir(), place.exists()
    except (OSError, ValueError) as error:  # a path too long, or with a NUL
        raise UsageError(f"{path!r} cannot be the path of a file: {error}") from error
    if is_folder:
        raise UsageError(f"{path!r} is a folder: name the files in it")
    if not exists:
        raise NotFoundError(f"there is no file {path!r}")


@contextmanager
def open_source(path: str) -> Iterator[InputFile]:
    """
    Open a file; unpack gzip and xz, which it detects by content. ``-`` is standard input.

    Raises:
        NotFoundError: The file does not exist.
        UsageError: It is a folder, or cannot be read.
    """
    check_file(path)
    if path == STDIN:
        buffer = _peekable(sys.stdin.buffer)
        if buffer.peek(_PEEK_BYTES).startswith(_ZIP):
            raise UsageError("a zip archive cannot be read from standard input: name the file")
        yield InputFile(name="stdin", stream=_unpacked(buffer), packed=buffer, size_bytes=None)
        return
    try:
        packed = Path(path).open("rb")  # noqa: SIM115 (an error of the caller's block is not ours)
    except OSError as error:
        raise UsageError(f"{path!r} cannot be read: {error.strerror}") from error
    with packed:
        yield source_of(packed, Path(path).name, Path(path).stat().st_size)


def source_of(packed: io.BufferedReader, name: str, size_bytes: int) -> InputFile:
    """Return an open file as an input file, unpacked if its content is compressed."""
    return InputFile(
        name=name,
        stream=_unpacked(packed),
        packed=packed,
        size_bytes=size_bytes,
        is_zip=packed.peek(_PEEK_BYTES).startswith(_ZIP),
    )


def _peekable(stream: BinaryIO) -> io.BufferedReader:
    """Return *stream* itself if it can be peeked into, as files and pipes can, else wrapped."""
    if isinstance(stream, io.BufferedReader):
        return stream
    return io.BufferedReader(cast("io.RawIOBase", stream))


def _unpacked(packed: io.BufferedReader) -> BinaryIO:
    first = packed.peek(_PEEK_BYTES)[:_PEEK_BYTES]
    if first.startswith(_GZIP):
        return guarded(gzip.open(packed, "rb"), packed)
    if first.startswith(_XZ):
        return guarded(lzma.open(packed, "rb"), packed)
    return packed


class SwollenError(OSError):
    """A compressed file unpacks to far more than any text file would: it may be a bomb."""


class _Guard(io.RawIOBase):
    """A stream of unpacked data that breaks off when the compression ratio is implausible."""

    def __init__(self, stream: io.BufferedIOBase, packed: BinaryIO) -> None:
        self._stream = stream
        self._packed = packed
        self._bytes = 0

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        """Read into *buffer*; return the number of bytes."""
        view = memoryview(buffer)
        # read1 returns the bytes before a damaged place, where read would only raise.
        content = self._stream.read1(len(view))
        self._bytes += len(content)
        if self._bytes > max(UNPACKED_FREE_BYTES, UNPACKED_TIMES_MAX * self._packed.tell()):
            raise SwollenError
        view[: len(content)] = content
        return len(content)


def guarded(stream: io.BufferedIOBase, packed: BinaryIO) -> BinaryIO:
    """
    Return *stream* with a limit on its size, which grows with the bytes read from *packed*.

    Reading beyond the limit raises `SwollenError`.
    """
    return io.BufferedReader(_Guard(stream, packed), buffer_size=_BUFFER_BYTES)


def read_first(stream: BinaryIO) -> bytes | Refused:
    """Return the first line with its line break, cut after ``LINE_BYTES_MAX`` + 1 bytes."""
    return _next_line(stream, 1)


def read_lines(stream: BinaryIO, first: bytes | Refused) -> Iterator[InputLine | Refused]:
    """
    Yield the lines that are not blank; an overlong line and a damaged place are refused rows.

    *first* is the result of `read_first`. Nothing follows a `Refused` with *is_cut*.
    """
    number, content = 1, first
    while content:
        if isinstance(content, Refused):
            yield content
            return
        if len(content) > LINE_BYTES_MAX:
            reason = with_code(
                "line_too_long",
                f"it has more than {LINE_BYTES_MAX} bytes, the limit LINE_BYTES_MAX: split it",
                limit=LINE_BYTES_MAX,
            )
            yield Refused(place=f"line {number}", reason=reason)
            while isinstance(content, bytes) and content and not content.endswith(b"\n"):
                content = _next_line(stream, number)
        elif content.strip():
            yield InputLine(number, content.rstrip(b"\r\n"), content.endswith(b"\n"))
        if not isinstance(content, Refused):
            number += 1
            content = _next_line(stream, number)


def _next_line(stream: BinaryIO, number: int) -> bytes | Refused:
    try:
        return stream.readline(LINE_BYTES_MAX + 1)
    except DAMAGE as error:
        return Refused(place=f"line {number}", reason=explain_damage(error), is_cut=True)


def explain_damage(error: Exception) -> str:
    """Return the reason why a file cannot be read further."""
    if isinstance(error, EOFError):
        return with_code(
            "cut_file",
            "the compressed file ends here: it was cut off; get a whole copy and import it again",
        )
    if isinstance(error, SwollenError):
        return with_code(
            "swollen",
            f"the compressed file unpacks to more than {UNPACKED_TIMES_MAX} times its size "
            "(UNPACKED_TIMES_MAX), as no file of text does: unpack it yourself if you trust it",
            times=UNPACKED_TIMES_MAX,
        )
    return with_code(
        "damaged",
        f"the file cannot be read further ({error}): get a whole copy and import it again",
        fault=str(error),
    )


def decoded(line: InputLine) -> str:
    """
    Return the text of *line*.

    Raises:
        UsageError: It is not UTF-8.
    """
    try:
        return line.content.removeprefix(b"\xef\xbb\xbf").decode()
    except UnicodeDecodeError as error:
        raise UsageError(
            with_code(
                "not_utf8",
                f"it is not UTF-8 (byte 0x{line.content[error.start]:02x} at {error.start + 1}): "
                "convert the file to UTF-8",
            )
        ) from error
