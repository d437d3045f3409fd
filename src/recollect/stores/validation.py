"""Validation shared by all stores: ids, texts, times, JSON and their limits."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final, cast, get_args
from uuid import UUID

from recollect.errors import LimitError, UsageError
from recollect.records import Json, NewMessage, Role, Scope
from recollect.stores.json_pointers import shown
from recollect.stores.remainder import MEMORY_THREAD, SOURCE_THREAD
from recollect.stores.rows import MICROSECONDS
from recollect.text.coded_text import with_code
from recollect.text.json_text import json_writer

SEGMENTS_MAX: Final = 16
UNREADABLE: Final = "\ufffd"
"""The replacement character of Unicode."""
ID_CHARACTERS_MAX: Final = 256
TEXT_CHARACTERS_MAX: Final = 1_000_000
JSON_BYTES_MAX: Final = 1_000_000
JSON_DEPTH_MAX: Final = 32
INTEGER_BITS_MAX: Final = 64
MESSAGES_MAX: Final = 10_000
WRITES_MAX: Final = 1_000
PAGE_ROWS_MAX: Final = 1_000
ATTACHMENT_BYTES_MAX: Final = 16_000_000
ATTACHMENT_PART_BYTES: Final = 600_000
"""Bytes of each part of an attachment; each part is a side record, below ``JSON_BYTES_MAX``."""
POSITION_MAX: Final = (1 << 53) - 1
"""Whole numbers up to this are exact as doubles too, which is what many JSON readers have."""
FUTURE_S_MAX: Final = 86_400
"""A message may be dated at most this far ahead of the store's clock."""

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)
_FIRST: Final = (datetime(1, 1, 1, tzinfo=UTC) - _EPOCH) // _MICROSECOND
_LAST: Final = (datetime(9999, 12, 31, tzinfo=UTC) - _EPOCH) // _MICROSECOND
_ROLES: Final = get_args(Role)
KNOWN_SCOPES_MAX: Final = 4_096
KNOWN_CHARACTERS_MAX: Final = 256
_KNOWN_SCOPES: Final[dict[Scope, Scope]] = {}
"""Recently validated scopes: one request checks its scope several times."""
_UNREADABLE: Final = re.compile("[\0\ud800-\udfff]")
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f]")


def check_scope(scope: Sequence[str | int]) -> Scope:
    """
    Return *scope* as text segments, exactly as given: no case folding, no normalising.

    An integer segment becomes its decimal text, so that a numeric user id can be used as is. A text
    is one segment even with a slash in it: an id from outside must never name another's scope.

    >>> check_scope("ada"), check_scope("github/ada")
    (('ada',), ('github/ada',))

    Raises:
        UsageError: It is empty, or has a segment that is not text.
        LimitError: It has more than ``SEGMENTS_MAX`` segments, or a segment is too long.
    """
    if (known := _known_scope(scope)) is not None:
        return known
    if isinstance(scope, str):
        scope = (scope,)
    if not isinstance(scope, tuple | list):
        msg = f"a scope is a text, or a tuple of them such as ('users', 'ada'); not {scope!r}"
        raise UsageError(f"{msg}{_text_hint(scope)}")
    if not scope:
        raise UsageError(
            with_code("scope_empty", "a scope needs at least one segment, such as ('users', 'ada')")
        )
    named = f"segments of the scope {'/'.join(map(str, scope))}"
    check_count(len(scope), SEGMENTS_MAX, "SEGMENTS_MAX", named)
    if any(isinstance(each, tuple | list) for each in scope):
        raise UsageError(
            f"one scope is asked for, such as ('users', 'ada'), not a list of {len(scope)}: call "
            "once for each; only recall takes several"
        )
    checked = tuple(check_id(segment_text(segment), "a scope's segment") for segment in scope)
    if sum(map(len, checked)) <= KNOWN_CHARACTERS_MAX:
        if len(_KNOWN_SCOPES) >= KNOWN_SCOPES_MAX:
            _KNOWN_SCOPES.clear()
        _KNOWN_SCOPES[checked] = checked
    return checked


def _known_scope(scope: object) -> Scope | None:
    """Return a scope that was validated before, ``None`` for any other."""
    try:
        # Only a tuple of the same texts equals one that was validated; its texts may be subclasses.
        return _KNOWN_SCOPES.get(scope) if type(scope) is tuple else None
    except TypeError:  # a segment cannot be hashed
        return None


def segment_text(segment: object) -> object:
    """Return a segment that is given as a number as text, any other as it is."""
    is_number = isinstance(segment, int) and not isinstance(segment, bool)
    return str(segment) if is_number else segment


def check_id(text: object, what: str) -> str:
    """Return *text* as a plain `str` if it is valid as an id; *what* describes it in the error."""
    if not isinstance(text, str) or not text:
        msg = f"{what} must be text of at least one character, not {text!r}"
        raise UsageError(f"{msg}{_text_hint(text)}")
    text = plain_text(text)
    if len(text) > ID_CHARACTERS_MAX:
        raise LimitError(f"characters of {what}", len(text), ID_CHARACTERS_MAX, "ID_CHARACTERS_MAX")
    if text.isascii() and text.isprintable():  # most ids need no further check
        return text
    check_text(text, what)
    if _CONTROL.search(text):
        raise UsageError(
            with_code("control_character", f"{what} contains a control character: {text!r}")
        )
    return text


def plain_text(text: str) -> str:
    """
    Return *text* as a plain `str`, not as a subclass.

    The member of an enumeration of texts, for example, is formatted as its name, and not as its
    text: checksums and digests would be of something else than is stored.
    """
    return text if type(text) is str else str.__str__(text)


def _text_hint(given: object) -> str:
    """Return what to give instead of a number or UUID; ``""`` for anything else."""
    is_id = isinstance(given, int | UUID) and not isinstance(given, bool)
    return f": give str(…) of it, {str(given)!r}" if is_id else ""


def check_new_thread(text: object) -> str:
    """Return *text* if it is valid as the id of a new thread; ids used in evidence are not."""
    thread = check_id(text, "a thread id")
    if thread in {MEMORY_THREAD, SOURCE_THREAD}:
        raise UsageError(f"the thread id {thread!r} is reserved for evidence: use another")
    return thread


def check_ids(ids: Sequence[str], what: str) -> list[str]:
    """Return each of *ids* once, in order, if all are valid as ids."""
    return [check_id(each, what) for each in dict.fromkeys(check_texts(ids, what))]


def check_texts(texts: Sequence[str], what: str) -> list[str]:
    """
    Return *texts* as a list; *what* describes one of them in the error.

    A single text is refused: its letters would be taken for the elements.
    """
    if isinstance(texts, str | bytes | Mapping) or not isinstance(texts, Collection):
        msg = f"{texts!r} is not a list of texts: give each {what} as an element, as in ['a', 'b']"
        raise UsageError(msg)
    return [check_text(each, what) for each in texts]


def check_list(given: object, what: str) -> list[Any]:
    """Return *given* as a list; a text or a mapping, of letters or keys, is none."""
    if type(given) is list:  # mostly, and faster than the abstract classes
        return given.copy()
    if isinstance(given, str | bytes | Mapping) or not isinstance(given, Collection):
        told = given if given is None else shown(given)  # a file among them has millions of bytes
        msg = f"{told} is not a list: give each {what} as an element, even a single one: [...]"
        raise UsageError(msg)
    return list(given)


def check_mapping(given: object, what: str) -> Mapping[Any, Any]:
    """Return *given* if it is a mapping; *what* describes it in the error."""
    if not isinstance(given, Mapping):
        raise UsageError(f"{what} must be a mapping, such as a dict, not {given!r}")
    return given


def check_position(position: object, what: str) -> int:
    """Return *position* if it is a whole number that every backend can store exactly."""
    is_flag = isinstance(position, bool)
    if is_flag or not isinstance(position, int) or abs(position) > POSITION_MAX:
        msg = f"{what} is a whole number of at most {POSITION_MAX} (POSITION_MAX), not {position!r}"
        raise UsageError(msg)
    return position


def check_text(text: object, what: str) -> str:
    """Return *text* as a plain `str` if every backend can store it."""
    if not isinstance(text, str):
        raise UsageError(f"{what} must be text, not {type(text).__name__}")
    text = plain_text(text)
    if len(text) > TEXT_CHARACTERS_MAX:
        raise LimitError(
            f"characters of {what}", len(text), TEXT_CHARACTERS_MAX, "TEXT_CHARACTERS_MAX"
        )
    if "\0" in text:
        msg = with_code(
            "unreadable_character",
            f"{what} contains a NUL at character {text.index(chr(0))}: remove it first",
            place=text.index(chr(0)),
        )
        raise UsageError(msg)
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise UsageError(
            with_code(
                "unreadable_character",
                f"{what} contains half of a surrogate pair at character {error.start}, as if it "
                "was cut or decoded wrongly: repair or replace it first",
                place=error.start,
            )
        ) from None
    return text


def readable(text: str) -> str:
    r"""
    Return *text* with each NUL and half of a surrogate pair replaced, which no store accepts.

    >>> readable("a\0b"), readable("c\ud83d") == "c\ufffd"
    ('a\ufffdb', True)
    """
    return _UNREADABLE.sub(UNREADABLE, text)


def check_time(time: datetime, what: str) -> int:
    """Return *time* in microseconds since 1970, UTC."""
    if not isinstance(time, datetime):
        raise UsageError(f"{what} must be a datetime, not {time!r}")
    if time.tzinfo is not UTC and (time.tzinfo is None or time.utcoffset() is None):
        msg = f"{what} has no zone: {time.isoformat()}; give one, as in time.replace(tzinfo=UTC)"
        raise UsageError(msg)
    moment = (time - _EPOCH) // _MICROSECOND
    return check_moment(moment, what)


def check_stale_s(seconds: float) -> float:
    """Return *seconds*, the age that an answer may have, if it is a number of at least 0."""
    given: object = seconds
    if isinstance(given, bool) or not isinstance(given, int | float) or not 0 <= given < math.inf:
        msg = f"stale_s_max is {given!r}: give seconds of at least 0, or None for the primary alone"
        raise UsageError(msg)
    return float(given)


def check_moment(moment: int, what: str) -> int:
    """Return *moment*, microseconds since 1970, if it is in the years 1 to 9999."""
    if not _FIRST <= moment <= _LAST:
        raise UsageError(f"{what} lies outside the years 1 to 9999 in UTC: {moment} µs since 1970")
    return moment


def check_past(time: datetime, now: int, what: str) -> int:
    """Return *time* in microseconds if it is not far ahead of *now*."""
    moment = check_time(time, what)
    if moment > now + FUTURE_S_MAX * MICROSECONDS:
        present = to_datetime(now).isoformat()
        raise UsageError(
            with_code(
                "in_the_future",
                f"{what} lies in the future: {time.isoformat()}, but it is {present} "
                f"(at most {FUTURE_S_MAX} s ahead is accepted): correct the time or its zone",
                time=time.isoformat(),
            )
        )
    return moment


def to_datetime(moment: int) -> datetime:
    """Return the time of *moment*, microseconds since 1970, in UTC."""
    return _EPOCH + timedelta(microseconds=moment)


def encode_json(value: object, what: str) -> str:
    """
    Return *value* as JSON text from which it can be restored exactly, keys in order.

    Raises:
        UsageError: It is not JSON: a key that is not text, NaN, or a type that JSON does not have.
        LimitError: It is deeper than ``JSON_DEPTH_MAX``, larger than ``JSON_BYTES_MAX``,
            or has an integer of more than ``INTEGER_BITS_MAX`` bits.
    """
    _check_json(value, what, depth=1)
    text = _write(value)
    size = len(text) if text.isascii() else len(text.encode())
    if size > JSON_BYTES_MAX:
        raise LimitError(f"bytes of {what}", size, JSON_BYTES_MAX, "JSON_BYTES_MAX")
    return text


def decode_json(text: str) -> Any:
    """Return the value of JSON text that `encode_json` made."""
    # Faster than `json.loads`: such text has no white space around it.
    return _DECODER.raw_decode(text)[0]


def plain_container(value: object) -> object:
    """Return mappings and sequences of other types as dict and list, which JSON can encode."""
    if isinstance(value, Mapping):
        return dict(value)
    return list(value) if isinstance(value, Sequence) else value


_write: Final = json_writer(
    json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), default=plain_container)
)
_DECODER: Final = json.JSONDecoder()


_SCALARS: Final = frozenset({str, int, float, bool, type(None)})


def _check_json(value: object, what: str, depth: int) -> None:
    if depth > JSON_DEPTH_MAX:
        raise LimitError(f"levels of {what}", depth, JSON_DEPTH_MAX, "JSON_DEPTH_MAX")
    if type(value) in _SCALARS:  # most values, and faster than `isinstance`
        _check_scalar(value, what)
    elif isinstance(value, Mapping):
        for key, each in value.items():
            check_text(key, f"a field name in {what}")
            _check_json(each, what, depth + 1)
    elif isinstance(value, Sequence) and not isinstance(value, str | bytes | bytearray):
        for each in value:
            _check_json(each, what, depth + 1)
    else:
        _check_scalar(value, what)


def _check_scalar(value: object, what: str) -> None:
    if isinstance(value, str):
        check_text(value, f"a text in {what}")
    elif isinstance(value, float):
        if not math.isfinite(value):
            msg = f"{what} contains {value}, which JSON cannot express: use null or text"
            raise UsageError(msg)
    elif isinstance(value, int):
        bits = (value if value >= 0 else ~value).bit_length() + 1  # in two's complement
        if bits > INTEGER_BITS_MAX:
            name = f"bits of a number in {what}"
            raise LimitError(name, bits, INTEGER_BITS_MAX, "INTEGER_BITS_MAX")
    elif value is not None:
        msg = f"{what} contains a {type(value).__name__}, which JSON cannot express: {value!r}"
        raise UsageError(msg)


def check_object(value: Json, what: str) -> str:
    """Return *value* as JSON text if it is a JSON object."""
    if type(value) is dict and not value:  # mostly, as a message's metadata
        return "{}"
    if not isinstance(value, Mapping):
        raise UsageError(f"{what} must be a JSON object, not {type(value).__name__}")
    return encode_json(value, what)


def check_content(content: object) -> str | None:
    """Return a message's content blocks as JSON text, ``None`` if it has none."""
    if content is None:
        return None
    if isinstance(content, str | bytes | Mapping) or not isinstance(content, Sequence):
        msg = f"a message's content is a list of blocks (JSON objects or texts), not {content!r}"
        raise UsageError(msg)
    return encode_json(content, "a message's content")


def check_role(message: NewMessage) -> Role:
    """Return the role of *message* if it is a known one."""
    return cast("Role", check_choice(message.role, _ROLES, "role"))


def check_choice(given: object, allowed: Sequence[str], what: str) -> str:
    """Return *given* as a plain `str` if it is in *allowed*; *what* describes it in the error."""
    if not isinstance(given, str) or given not in allowed:
        raise UsageError(f"unknown {what} {given!r}: use one of {', '.join(allowed)}")
    return plain_text(given)


def check_count(rows: int, limit: int, limit_name: str, what: str) -> None:
    """Raise `LimitError` for more *rows* than the named limit."""
    if rows > limit:
        raise LimitError(what, rows, limit, limit_name)


def check_page(limit: object) -> int:
    """Return *limit* if a page can have that many rows."""
    if not isinstance(limit, int) or not 1 <= limit <= PAGE_ROWS_MAX:
        raise UsageError(f"limit {limit!r} is outside 1 to {PAGE_ROWS_MAX} (PAGE_ROWS_MAX)")
    return limit
