"""A labelled sample: questions, and the entries that should be found for each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final, TypeAlias

from recollect.errors import LimitError, UsageError
from recollect.recall.query import RecallQuery, Where, check_ask
from recollect.records import Scope, ScopeLike
from recollect.stores.validation import check_id, check_ids, check_scope

SAMPLE_QUESTIONS_MIN: Final = 20
"""Questions that a sample has at least: with fewer, chance would decide."""
SAMPLE_QUESTIONS_MAX: Final = 10_000
"""Questions that a sample has at most."""
_FIELDS: Final = ("query", "scope", "thread", "messages", "memories", "asked_at")
_PROBLEMS_SHOWN: Final = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleQuestion:
    """
    A question, and the entries that answer it: ids of messages, memories as ``TYPE/KEY``.

    *thread* is the thread of the messages; it may be ``None`` if their ids are unique in the scope.
    The whole scope is searched. *asked_at* is the question's "now".

    >>> SampleQuestion(query="Who mends the roof?", scope="ada", messages=["m3"]).scope
    'ada'
    """

    query: str
    scope: ScopeLike
    messages: Sequence[str] = ()
    memories: Sequence[str] = ()
    thread: str | None = None
    asked_at: datetime | None = None
    place: str = field(default="", repr=False, compare=False)
    """Its place in the file it was read from, for error messages."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedQuestion:
    """A validated question: *messages* are ids, *memories* are types and keys."""

    ask: RecallQuery
    scope: Scope
    thread: str | None
    messages: tuple[str, ...]
    memories: tuple[tuple[str, str], ...]
    place: str


SampleLike: TypeAlias = "SampleQuestion | Mapping[str, object]"
"""A question of a sample, or a row with its fields."""


def sample_question(row: Mapping[str, object], place: str = "") -> SampleQuestion:
    """
    Return the question in a row of a file.

    Raises:
        UsageError: A field is unknown or has a wrong value; the error begins with *place*.
    """
    if unknown := [each for each in row if each not in _FIELDS]:
        raise _wrong(place, f"it has the field {unknown[0]!r:.80}; there are {', '.join(_FIELDS)}")
    query, thread, asked_at = row.get("query"), row.get("thread"), row.get("asked_at")
    if not isinstance(query, str):
        raise _wrong(place, f'its "query" is {query!r:.80}, not a text')
    if not (thread is None or isinstance(thread, str)):
        raise _wrong(place, f'its "thread" is {thread!r:.80}, not a text')
    return SampleQuestion(
        query=query,
        scope=_scope_in(row.get("scope"), place),
        messages=_ids_in(row, "messages", place),
        memories=_ids_in(row, "memories", place),
        thread=thread,
        asked_at=_time_in(asked_at, place),
        place=place,
    )


def check_sample(sample: Iterable[SampleLike]) -> list[CheckedQuestion]:
    """
    Return the questions of a sample, checked.

    Raises:
        UsageError: There are fewer than ``SAMPLE_QUESTIONS_MIN`` questions; or one is invalid,
            names no entry, or occurs twice.
        LimitError: There are more than ``SAMPLE_QUESTIONS_MAX``.
    """
    found: list[CheckedQuestion] = []
    places: dict[tuple[Scope, str], str] = {}
    for number, each in enumerate(sample, start=1):
        if number > SAMPLE_QUESTIONS_MAX:
            what, name = "questions of the sample", "SAMPLE_QUESTIONS_MAX"
            raise LimitError(what, number, SAMPLE_QUESTIONS_MAX, name)
        question = _checked(each, f"question {number}")
        named = question.scope, question.ask.query.strip()
        if before := places.get(named):
            raise _wrong(question.place, f"it asks the same as {before}: leave one out")
        places[named] = question.place
        found.append(question)
    if len(found) < SAMPLE_QUESTIONS_MIN:
        raise UsageError(
            f"the sample has {len(found)} questions: with fewer than {SAMPLE_QUESTIONS_MIN} "
            "(SAMPLE_QUESTIONS_MIN) chance would decide; add some, best more than 100"
        )
    return found


def _checked(given: object, number: str) -> CheckedQuestion:
    question = sample_question(given, number) if isinstance(given, Mapping) else given
    if not isinstance(question, SampleQuestion):
        raise _wrong(number, f"it is {given!r:.80}, not a SampleQuestion")
    place = question.place or number
    try:
        checked = _checked_question(question, place)
    except UsageError as error:
        raise _wrong(place, str(error)) from error
    if not (checked.messages or checked.memories):
        raise _wrong(
            place, 'it names nothing that should be found: give it "messages" or "memories"'
        )
    return checked


def _checked_question(question: SampleQuestion, place: str) -> CheckedQuestion:
    ask = RecallQuery(
        query=question.query,
        limit=1,
        budget_tokens=None,
        where=Where(),
        asked_at=question.asked_at,
    )
    check_ask(ask)
    return CheckedQuestion(
        ask=ask,
        scope=check_scope(question.scope),
        thread=None if question.thread is None else check_id(question.thread, "a thread id"),
        messages=tuple(check_ids(question.messages, "a message's id")),
        memories=tuple(map(_address, check_ids(question.memories, "a memory"))),
        place=place,
    )


def _address(written: str) -> tuple[str, str]:
    type_, _, key = written.partition("/")
    if not type_ or not key:
        raise UsageError(f"{written!r:.80} names no memory: write TYPE/KEY, such as User/User")
    return type_, key


def _scope_in(value: object, place: str) -> ScopeLike:
    if isinstance(value, str) or (
        isinstance(value, list | tuple) and value and all(isinstance(each, str) for each in value)
    ):
        return value if isinstance(value, str) else tuple(value)
    raise _wrong(place, f'its "scope" is {value!r:.80}, not a text or a list of them')


def _ids_in(row: Mapping[str, object], name: str, place: str) -> tuple[str, ...]:
    value = row.get(name, ())
    if not isinstance(value, list | tuple) or not all(isinstance(each, str) for each in value):
        raise _wrong(place, f'its "{name}" are {value!r:.80}, not a list of texts')
    return tuple(value)


def _time_in(value: object, place: str) -> datetime | None:
    if value is None or isinstance(value, datetime):
        return value
    try:
        time = datetime.fromisoformat(str(value))
    except ValueError as error:
        raise _wrong(place, f'its "asked_at" is {value!r:.80}, not a time in ISO 8601') from error
    return time.replace(tzinfo=UTC) if time.tzinfo is None else time


def sample_error(problems: Sequence[str], questions: int) -> UsageError:
    """Return the error of a sample that names entries which its scopes do not hold."""
    shown = "; ".join(problems[:_PROBLEMS_SHOWN])
    more = len(problems) - _PROBLEMS_SHOWN
    rest = f"; and {more} more" if more > 0 else ""
    return UsageError(
        f"{len(problems)} of the entries that {questions} questions name cannot be found by them: "
        f"{shown}{rest}"
    )


def _wrong(place: str, why: str) -> UsageError:
    return UsageError(f"the sample, {place}: {why}" if place else f"the sample: {why}")
