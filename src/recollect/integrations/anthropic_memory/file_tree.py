"""The memory files of a scope: their paths, and the writes of each command; pure functions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeAlias
from urllib.parse import unquote

from recollect.errors import LimitError, UsageError
from recollect.records import DeleteMemory, EvidenceMap, Memory, PutMemory, Write
from recollect.stores.field_evidence import each_evidence
from recollect.stores.provenance import all_of
from recollect.stores.validation import check_text

ROOT: Final = "/memories"
PATH_CHARACTERS_MAX: Final = 200
"""Characters of a path below the root, at most: the path, possibly numbered, is a memory's key."""
DEPTH: Final = 2
"""Levels of directories in a listing."""
_UNSAFE: Final = re.compile("[\x00-\x1f\x7f\\\\\ud800-\udfff]")
_UNITS: Final = ("B", "K", "M", "G")
TYPE: Final = "File"
FILES_MAX: Final = 500
FILE_CHARACTERS_MAX: Final = 50_000
_LINES_NAMED_MAX: Final = 20
_AROUND: Final = 2
"""Lines that are shown before and after an edit."""

Change: TypeAlias = tuple[Sequence[Write], str]
"""The writes of a tool call, and its answer to the model."""


@dataclass(frozen=True, slots=True)
class FileTree:
    """
    The memory files of a scope by relative path, and all keys of their type.

    A file is a memory ``{"path": …, "content": …}``. Its key is its first path and stays when it is
    renamed, so that its history does too. A rejected or ended memory is not a file. *found*, a
    finding of the agent, is the evidence of a written text.
    """

    files: dict[str, Memory] = field(default_factory=dict)
    keys: frozenset[str] = frozenset()
    found: EvidenceMap = field(default_factory=dict)

    @classmethod
    def of(cls, memories: Iterable[Memory], found: EvidenceMap) -> FileTree:
        """Return the tree of *memories*; of two files with the same path, the first counts."""
        files: dict[str, Memory] = {}
        keys = set()
        for each in memories:
            keys.add(each.key)
            path = each.value.get("path")
            if each.state == "active" and each.valid_until is None and _is_file(path):
                files.setdefault(checked_path(path), each)
        return cls(files, frozenset(keys), found)

    def view(self, path: object, lines: Sequence[int] | None = None) -> str:
        """Return a file's numbered lines, or those from *lines* (first, last); or a listing."""
        at = checked_path(path)
        if at not in self.files:
            below = {
                each: len(content_of(file).encode())
                for each, file in self.files.items()
                if is_within(each, at)
            }
            if at and not below:
                raise UsageError(
                    f"The path {full_path(at)} does not exist. Please provide a valid path."
                )
            return listing(at, below)
        text = content_of(self.files[at]).split("\n")
        first, last = (lines[0], lines[1]) if lines and len(lines) == 2 else (1, -1)
        first = max(first, 1)
        shown = text[first - 1 :] if last == -1 else text[first - 1 : max(last, 0)]
        return f"Here's the content of {full_path(at)} with line numbers:\n" + numbered(
            shown, first
        )

    def create(self, path: object, text: str) -> Change:
        """Create a file; an existing one is not overwritten."""
        at = checked_path(path)
        if self._is_there(at):
            raise UsageError(f"File {full_path(at)} already exists")
        self._check_parents(at)
        if len(self.files) >= FILES_MAX:
            raise LimitError("memory files", len(self.files) + 1, FILES_MAX, "FILES_MAX")
        put = PutMemory(
            type=TYPE,
            key=self._free_key(at),
            value=_value(at, text),
            expected=0,
            evidence=self.found,
        )
        return [put], f"File created successfully at: {full_path(at)}"

    def str_replace(self, path: object, old: str, new: str) -> Change:
        """Replace a text that occurs exactly once."""
        at, file = self._file(path)
        content = content_of(file)
        places = places_of(content, old)
        if not places:
            raise UsageError(
                f"No replacement was performed, old_str `{old}` did not appear verbatim in "
                f"{full_path(at)}."
            )
        if len(places) > 1:
            lines = [str(content.count("\n", 0, each) + 1) for each in places]
            named = ", ".join(lines[:_LINES_NAMED_MAX]) + ", …" * (len(lines) > _LINES_NAMED_MAX)
            raise UsageError(
                f"No replacement was performed. Multiple occurrences of old_str `{old}` in lines: "
                f"{named}. Please ensure it is unique"
            )
        (place,) = places
        edited = content[:place] + new + content[place + len(old) :]
        changed = content.count("\n", 0, place)
        first = max(changed - _AROUND, 0)
        snippet = edited.split("\n")[first : changed + _AROUND + 1]
        return [self._edited(file, at, edited)], (
            "The memory file has been edited. Here is the snippet showing the change (with line "
            f"numbers):\n{numbered(snippet, first + 1)}"
        )

    def insert(self, path: object, line: int, text: str) -> Change:
        """Insert a text after a line; 0 is the start of the file."""
        at, file = self._file(path)
        lines = content_of(file).removesuffix("\n").split("\n") if content_of(file) else []
        if not 0 <= line <= len(lines):
            raise UsageError(
                f"Invalid `insert_line` parameter: {line}. "
                f"It should be within the range [0, {len(lines)}]."
            )
        lines.insert(line, text.rstrip("\n"))
        edited = "\n".join(lines).removesuffix("\n") + "\n"
        said = f"The file {full_path(at)} has been edited."
        return [self._edited(file, at, edited, "insert")], said

    def delete(self, path: object) -> Change:
        """Remove a file, or a directory with all files below it."""
        at = checked_path(path)
        if not at:
            raise UsageError(f"Cannot delete the {ROOT} directory itself")
        self._check_there(at)
        gone = [file for path, file in self.files.items() if path == at or is_within(path, at)]
        return [_deleted(each) for each in gone], f"Successfully deleted {full_path(at)}"

    def rename(self, old: object, new: object) -> Change:
        """Move a file or a directory; each file keeps its history."""
        before, after = checked_path(old), checked_path(new)
        if not before:
            raise UsageError(f"Cannot rename the {ROOT} directory itself")
        if self._is_there(after):
            raise UsageError(f"The destination {full_path(after)} already exists")
        if is_within(after, before):
            raise UsageError(f"{full_path(before)} cannot be moved into itself: {full_path(after)}")
        self._check_parents(after)
        self._check_there(before)
        writes = [
            _next(
                file,
                checked_path(full_path(after) + path[len(before) :]),
                content_of(file),
                "rename",
            )
            for path, file in self.files.items()
            if path == before or is_within(path, before)
        ]
        return writes, f"Successfully renamed {full_path(before)} to {full_path(after)}"

    def clear(self) -> Change:
        """Remove all files."""
        return [_deleted(each) for each in self.files.values()], "All memory cleared"

    def _edited(self, file: Memory, at: str, text: str, cause: str = "edit") -> PutMemory:
        """Return the next version of a file with a new text, citing the agent's finding."""
        evidence = file.evidence
        (new,) = self.found[""]
        if not any(each.source == new.source for each in each_evidence(evidence)):
            # The old and the new text cannot be told apart, so erasing either source erases all.
            evidence = {**evidence, "": all_of([tuple(evidence.get("", ())), (new,)])}
        return _next(file, at, text, cause, evidence)

    def _file(self, path: object) -> tuple[str, Memory]:
        at = checked_path(path)
        if at in self.files:
            return at, self.files[at]
        if self._is_there(at):
            raise UsageError(f"The path {full_path(at)} is not a file.")
        raise UsageError(f"The path {full_path(at)} does not exist. Please provide a valid path.")

    def _is_there(self, at: str) -> bool:
        return not at or any(each == at or is_within(each, at) for each in self.files)

    def _check_there(self, at: str) -> None:
        if not self._is_there(at):
            raise UsageError(f"The path {full_path(at)} does not exist")

    def _check_parents(self, at: str) -> None:
        for each in self.files:
            if is_within(at, each):
                raise UsageError(f"The path {full_path(each)} is a file, not a directory")

    def _free_key(self, at: str) -> str:
        """Return the path as a key, numbered if a file renamed since then still has that key."""
        first = full_path(at)[1:]
        number = 2
        key = first
        while key in self.keys:
            key, number = f"{first}~{number}", number + 1
        return key


def _is_file(path: object) -> bool:
    try:
        return bool(checked_path(path))
    except UsageError:  # another writer stored something that is not a path
        return False


def _value(at: str, text: str) -> dict[str, str]:
    if len(check_text(text, "a memory file")) > FILE_CHARACTERS_MAX:
        raise LimitError(
            "characters of a memory file", len(text), FILE_CHARACTERS_MAX, "FILE_CHARACTERS_MAX"
        )
    return {"path": full_path(at), "content": text}


def _next(
    file: Memory, at: str, text: str, cause: str, evidence: EvidenceMap | None = None
) -> PutMemory:
    """Return the next version of a file: *text* at a path, with the same evidence by default."""
    return PutMemory(
        type=TYPE,
        key=file.key,
        value=_value(at, text),
        expected=file.version,
        valid_from=file.valid_from,
        expires_at=file.expires_at,
        evidence=file.evidence if evidence is None else evidence,
        trust=file.trust,
        cause=cause,
    )


def _deleted(file: Memory) -> DeleteMemory:
    return DeleteMemory(type=TYPE, key=file.key, expected=file.version)


def content_of(file: Memory) -> str:
    """Return the text of a file; ``""`` if another program wrote something else there."""
    content = file.value.get("content")
    return content if isinstance(content, str) else ""


def places_of(content: str, old: str) -> list[int]:
    """Return the index of each occurrence of *old* in *content*, overlapping ones included."""
    if not old:
        raise UsageError("old_str is empty: give the text to replace")
    places = []
    place = content.find(old)
    while place >= 0:
        places.append(place)
        place = content.find(old, place + 1)
    return places


def numbered(lines: Sequence[str], first: int) -> str:
    """Return lines with their numbers, from *first*."""
    return "\n".join(f"{number:>6}\t{line}" for number, line in enumerate(lines, first))


def checked_path(path: object) -> str:
    """
    Return a path relative to ``/memories``, ``""`` for the directory itself.

    >>> checked_path("/memories/notes//cat.md"), checked_path("/memories/")
    ('notes/cat.md', '')

    Raises:
        UsageError: It is outside ``/memories``, or has a part that could lead outside.
        LimitError: It is longer than ``PATH_CHARACTERS_MAX``.
    """
    if not isinstance(path, str) or not _is_safe(path):
        raise UsageError(
            f"The path {path!r} is not accepted: it must be /memories or start with /memories/, "
            "without '..', backslashes or control characters, also where these are encoded"
        )
    relative = "/".join(each for each in path.split("/")[2:] if each not in ("", "."))
    if len(relative) > PATH_CHARACTERS_MAX:
        raise LimitError(
            "characters of a memory file's path",
            len(relative),
            PATH_CHARACTERS_MAX,
            "PATH_CHARACTERS_MAX",
        )
    return relative


def _is_safe(path: str) -> bool:
    decoded = path
    # Decode repeatedly: ".." may be percent-encoded several times.
    while (once := unquote(decoded)) != decoded:
        decoded = once
    return (
        f"{path}/".startswith(f"{ROOT}/")
        and path.count("/") == decoded.count("/")
        and ".." not in decoded.split("/")
        and not _UNSAFE.search(decoded)
    )


def full_path(relative: str) -> str:
    """Return the absolute path, as a model writes it."""
    return f"{ROOT}/{relative}" if relative else ROOT


def is_within(path: str, directory: str) -> bool:
    """
    Return True if *path* is below *directory*; both are relative to the root.

    >>> is_within("a/b", "a"), is_within("ab", "a"), is_within("a", "")
    (True, False, True)
    """
    return bool(path) and (not directory or path.startswith(f"{directory}/"))


def listing(directory: str, sizes: Mapping[str, int]) -> str:
    """Return the listing of a directory; *sizes* are the bytes of its files by relative path."""
    below = {tuple(_parts_below(directory, each)): size for each, size in sizes.items()}
    totals: dict[tuple[str, ...], int] = {}
    for parts, size in below.items():
        for depth in range(len(parts) + 1):
            place = parts[:depth]
            totals[place] = totals.get(place, 0) + size
    shown = full_path(directory)
    head = f"Here're the files and directories up to {DEPTH} levels deep in {shown}"
    lines = [f"{head}, excluding hidden items:", f"{_size(totals.get((), 0))}\t{shown}"]
    for place, total in sorted(totals.items()):
        if 0 < len(place) <= DEPTH and not any(each.startswith(".") for each in place):
            end = "" if place in below else "/"
            lines.append(f"{_size(total)}\t{shown}/{'/'.join(place)}{end}")
    return "\n".join(lines)


def _parts_below(directory: str, path: str) -> list[str]:
    return path.removeprefix(f"{directory}/" if directory else "").split("/")


def _size(count: int) -> str:
    """
    Return a number of bytes with its unit.

    >>> _size(18), _size(1536), _size(4096)
    ('18B', '1.5K', '4K')
    """
    at = min(max(count.bit_length() - 1, 0) // 10, len(_UNITS) - 1)
    size = count / 1024**at
    return f"{size:.0f}{_UNITS[at]}" if size == int(size) else f"{size:.1f}{_UNITS[at]}"
