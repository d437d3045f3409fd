"""Validate the lines of a file that evidence names; the file itself is never opened."""

from __future__ import annotations

import re
from typing import Final

from recollect.errors import LimitError, UsageError
from recollect.records import FileLines
from recollect.stores.validation import check_position, check_text

PATH_CHARACTERS_MAX: Final = 1_000
_DIGEST: Final = re.compile("sha256:[0-9a-f]{64}")
_DRIVE: Final = re.compile("[A-Za-z]:")


def check_file_lines(lines: FileLines) -> FileLines:
    """
    Return *lines* if they are valid.

    Raises:
        UsageError: The path leaves its project or has a hidden character, a line is below 1, or the
            digest has another form; the message says how to write it.
        LimitError: The path has more than ``PATH_CHARACTERS_MAX`` characters.
    """
    if not isinstance(lines, FileLines):
        raise UsageError(f"the lines of a file are a FileLines(path=…, line=…), not {lines!r}")
    check_path(lines.path)
    first = check_position(lines.line, "the line of a file")
    if first < 1:
        raise UsageError(f"line {first} of a file: lines are counted from 1")
    if lines.last_line is not None and check_position(lines.last_line, "the last line") < first:
        msg = f"the last line {lines.last_line} is before the line {first}: give them in order"
        raise UsageError(msg)
    if lines.digest is not None:
        check_digest(lines.digest)
    return lines


def check_path(path: str) -> str:
    """Return *path* if it is relative to a project, stays in it, and has no hidden character."""
    check_text(path, "a path")
    if len(path) > PATH_CHARACTERS_MAX:
        raise LimitError(
            "characters of a path", len(path), PATH_CHARACTERS_MAX, "PATH_CHARACTERS_MAX"
        )
    if wrong := _path_fault(path):
        msg = f"the path {path!r} {wrong}: give it relative to the project, such as src/app.py"
        raise UsageError(msg)
    return path


def _path_fault(path: str) -> str:
    """Return the fault of a path for an error message, ``""`` if it has none."""
    if not path.strip():
        return "is empty"
    if not path.isprintable():
        return "has a hidden character"
    if path.startswith(("/", "~")) or _DRIVE.match(path):
        return "is absolute"
    if "\\" in path:
        return "has a backslash instead of '/' between names"
    names = path.split("/")
    if ".." in names:
        return "leads out of the project"
    return "has an empty name, or '.', in it" if {"", "."} & set(names) else ""


def check_digest(digest: str) -> str:
    """Return *digest* if it has the form ``sha256:`` and 64 hexadecimal digits."""
    if not _DIGEST.fullmatch(check_text(digest, "a digest")):
        raise UsageError(
            f"the digest {digest[:80]!r} is malformed: give 'sha256:' and 64 hexadecimal "
            "digits, or leave it out"
        )
    return digest
