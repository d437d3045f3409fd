"""Read cases from TOML files, and reject those that no correct model could pass."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from importlib import resources
from pathlib import Path
from typing import Final, get_args

from recollect.errors import LimitError, UsageError
from recollect.evaluation.cases import CaseTalk, EvaluationCase, Forming, InitialMemory
from recollect.evaluation.expectations import Setting, read_expectations
from recollect.evaluation.toml_tables import Table
from recollect.formation.types import BUILTIN_TYPES, DEFAULT_TYPES, MemoryType, load_types
from recollect.formation.types.loader import read_text_file
from recollect.formation.types.schema import violations
from recollect.records import NewMessage, Role
from recollect.stores.json_pointers import listed

CASES_MAX: Final = 10_000
"""Most cases of one file."""

FIRST_TALK: Final = datetime(2024, 5, 6, 12, tzinfo=UTC)
"""Default time of a case's first conversation; each later one is a day after."""

_BUILTIN: Final = {each.name: each for each in BUILTIN_TYPES}
_MINUTE: Final = timedelta(minutes=1)


def load_cases(*paths: str | Path) -> tuple[EvaluationCase, ...]:
    """
    Return the cases of all files, in their order.

    Raises:
        NotFoundError: The file does not exist.
        UsageError: A case is invalid; the error names file and place, as in
            ``cases.toml: case[2].must[0].quote``; or two cases have the same name.
        LimitError: A file is larger than `FILE_BYTES_MAX`, or has more than `CASES_MAX` cases.
    """
    return _with_own_names([each for path in paths for each in read_cases(*_read(Path(path)))])


def shipped_cases() -> tuple[EvaluationCase, ...]:
    """Return the cases that come with the library, file by file."""
    folder = resources.files("recollect.evaluation") / "cases"
    files = sorted((each for each in folder.iterdir()), key=lambda each: each.name)
    texts = [(each.read_text("utf-8"), each.name) for each in files if each.name.endswith(".toml")]
    return _with_own_names([case for text, name in texts for case in read_cases(text, name)])


def read_cases(text: str, name: str) -> tuple[EvaluationCase, ...]:
    """Return the cases in the TOML *text* of the file *name*."""
    try:
        return _cases_of(Table("", tomllib.loads(text)), name)
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{name}: it is not TOML: {error}") from None
    except LimitError:
        raise
    except UsageError as error:
        raise UsageError(f"{name}: {error}") from None


def _read(path: Path) -> tuple[str, str]:
    return read_text_file(path), path.name


def _with_own_names(cases: Sequence[EvaluationCase]) -> tuple[EvaluationCase, ...]:
    seen: dict[str, str] = {}
    for case in cases:
        if case.name in seen:
            raise UsageError(
                f"two cases are called {case.name!r} (in {seen[case.name]} and {case.source}): "
                "runs are compared by name, so give one of them another"
            )
        seen[case.name] = case.source
    return tuple(cases)


def _cases_of(file: Table, name: str) -> tuple[EvaluationCase, ...]:
    shared = {each.name: each for each in _types(file, "types", _BUILTIN) or ()}
    tables = list(file.tables("case"))
    file.end()
    if len(tables) > CASES_MAX:
        raise LimitError(f"cases in {name}", len(tables), CASES_MAX, "CASES_MAX")
    if not tables:
        raise UsageError("there is no case in it: write one as [[case]]")
    return tuple(replace(_case(each, {**_BUILTIN, **shared}), source=name) for each in tables)


def _case(table: Table, named: Mapping[str, MemoryType]) -> EvaluationCase:
    name = table.text("name")
    types = _types(table, "types", named) or DEFAULT_TYPES
    memories = tuple(_standing(each, types) for each in table.tables("memories"))
    talks = _talks(table)
    setting = Setting(talks=talks, types=types)
    case = EvaluationCase(
        name=name,
        language=table.text("language", "en"),
        tags=table.texts("tags"),
        types=types,
        memories=memories,
        talks=talks,
        expectations=read_expectations(table, setting),
    )
    table.end()
    return case


def _types(
    table: Table, name: str, named: Mapping[str, MemoryType]
) -> tuple[MemoryType, ...] | None:
    """Return the memory types of a file or case: names of known ones, or their configuration."""
    given = table.any(name)
    if given is None:
        return None
    if not isinstance(given, list) or not given:
        raise table.wrong(name, "must be a list of memory types, or of names of types")
    unknown = [each for each in given if isinstance(each, str) and each not in named]
    if unknown:
        raise table.wrong(name, f"there is no type {unknown[0]!r}; there are {listed(named)}")
    try:
        return load_types([named[each] if isinstance(each, str) else each for each in given])
    except UsageError as error:
        raise UsageError(f"{table.path}.{error}" if table.path else str(error)) from None


def _standing(table: Table, types: Sequence[MemoryType]) -> InitialMemory:
    type_ = Setting(talks=(), types=types).type_of(table)
    standing = InitialMemory(
        type=type_.name,
        value=table.document("value"),
        since=table.moment("since"),
        until=table.moment("until"),
        rejected=table.flag("rejected"),
    )
    table.end()
    wrong = violations(type_, standing.value)
    if wrong:
        raise table.wrong("value", f"it does not fit {type_.name}: {'; '.join(wrong)}")
    return standing


def _talks(table: Table) -> tuple[CaseTalk, ...]:
    talks: list[CaseTalk] = []
    for at, each in enumerate(table.tables("talks")):
        count = sum(len(talk.messages) for talk in talks)
        talks.append(_talk(each, at, count))
    formed = [at for at, talk in enumerate(talks) if talk.forming == "own"]
    if not formed or formed[-1] != len(talks) - 1:
        raise table.wrong("talks", "there must be some, and the last must be formed by itself")
    return tuple(talks)


def _talk(table: Table, at: int, count: int) -> CaseTalk:
    thread = table.text("thread", f"talk-{at + 1}")
    begins = table.moment("at") or FIRST_TALK + timedelta(days=at)
    forming: Forming = table.one_of("formed", get_args(Forming), "own")
    given = table.any("messages")
    if not isinstance(given, list) or not given:
        raise table.wrong("messages", "must be a list of at least one message")
    messages: list[NewMessage] = []
    time = begins
    for place, each in enumerate(given):
        path = f"{table.path}.messages[{place}]"
        number = count + place + 1
        messages.append(_message(Table(path, _as_table(each)), number, time))
        time = (messages[-1].time or time) + _MINUTE
    table.end()
    times = [message.time for message in messages if message.time]
    if times != sorted(times):
        raise table.wrong("messages", "must come in the order of their times")
    return CaseTalk(thread=thread, messages=tuple(messages), forming=forming)


def _as_table(message: object) -> object:
    """Return a message as a table; a string alone is a user's message."""
    return {"text": message} if isinstance(message, str) else message


def _message(table: Table, number: int, time: datetime) -> NewMessage:
    role: Role = table.one_of("role", get_args(Role), "user")
    message = NewMessage(
        role=role,
        text=table.text("text"),
        id=f"message-{number}",
        name=table.text("name", "") if "name" in table else None,
        time=table.moment("time") or time,
    )
    table.end()
    return message
