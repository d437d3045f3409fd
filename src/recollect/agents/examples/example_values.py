"""Convert an example to and from a memory's value and a line of JSON, and plan its write."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from recollect.errors import ConflictError, LimitError, UsageError
from recollect.formation.grounding.passage_trust import least
from recollect.formation.strict_json import NotJsonError, read_json
from recollect.formation.succession import holds
from recollect.records import EvidenceMap, Json, JsonObject, Memory, PutMemory, Trust
from recollect.stores.json_pointers import is_list, is_number, texts_in
from recollect.stores.kept_evidence import merged_evidence
from recollect.stores.validation import check_text, encode_json

EXAMPLE_TYPE: Final = "Example"
TAGS_MAX: Final = 32
_DIGEST_BYTES: Final = 10
# `str.splitlines` also splits at these characters, so escape them within a line of JSON.
_LINE_ENDS: Final = {ord(each): f"\\u{ord(each):04x}" for each in "\x85\u2028\u2029"}
_BYTE_ORDER_MARK: Final = "\ufeff"
"""Written by some editors at the start of a file."""
_FIELDS: Final = ("input", "output", "reason", "score", "tags")


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """
    A solved task: its *input*, the reasoning (*reason*), and the *output*.

    *score* is its quality from 0 to 1, if rated. *key* and *version* are those of its memory, empty
    and 0 if it is not stored.
    """

    input: str
    output: str
    reason: str | None = None
    score: float | None = None
    tags: tuple[str, ...] = ()
    key: str = ""
    version: int = 0

    @property
    def identity(self) -> str:
        """
        The text that identifies an example, regardless of score and tags.

        Every character counts: a right and a wrong answer may differ by a single sign.
        """
        said = json.dumps([self.input, self.output, self.reason or ""])
        return hashlib.blake2b(said.encode(), digest_size=_DIGEST_BYTES).hexdigest()

    def as_value(self) -> JsonObject:
        """Return the value of its memory, without the fields that it does not have."""
        value: dict[str, Json] = {"input": self.input, "output": self.output}
        if self.reason is not None:
            value["reason"] = self.reason
        if self.score is not None:
            value["score"] = self.score
        if self.tags:
            value["tags"] = list(self.tags)
        return value


def checked(example: Example) -> Example:
    """
    Return *example* without repeated tags, if it can be stored.

    Raises:
        UsageError: Its input or output is blank, or its score is not from 0 to 1.
        LimitError: It has more than ``TAGS_MAX`` tags, or is larger than a memory may be.
    """
    for name, text in (("input", example.input), ("output", example.output)):
        check_text(text, f"an example's {name}")
        if not text.strip():
            msg = f"an example's {name} is blank: give the question as input, the answer as output"
            raise UsageError(msg)
    if example.reason is not None:
        check_text(example.reason, "an example's reason")
    for tag in example.tags:
        check_text(tag, "a tag")
        if not tag.strip():
            raise UsageError("a tag is blank: leave it out")
    check_score(example.score)
    tags = tuple(dict.fromkeys(example.tags))
    if len(tags) > TAGS_MAX:
        raise LimitError("tags of an example", len(tags), TAGS_MAX, "TAGS_MAX")
    kept = replace(example, tags=tags)
    encode_json(kept.as_value(), "an example")
    return kept


def check_score(score: object, name: str = "score") -> None:
    """Raise `UsageError` if *score* is neither ``None`` nor from 0 to 1."""
    if score is None:
        return
    if not (is_number(score) and 0 <= score <= 1):
        raise UsageError(f"{name} {score!r} is outside 0 to 1: 1 is the best")


def example_of(memory: Memory) -> Example | None:
    """Return the example in a memory; ``None`` if its value is not a valid example."""
    found = example_in(memory.value)
    try:
        return replace(checked(found), key=memory.key, version=memory.version)
    except UsageError:
        return None


def example_in(value: JsonObject) -> Example:
    """Return the example in a value, unchecked; fields of a wrong type are left out."""
    return Example(
        input=_text_in(value, "input") or "",
        output=_text_in(value, "output") or "",
        reason=_text_in(value, "reason"),
        score=_number_in(value, "score"),
        tags=tuple(texts_in(value.get("tags"))),
    )


def line_of(example: Example) -> str:
    """Return *example* as one line of JSON."""
    return json.dumps(example.as_value(), ensure_ascii=False).translate(_LINE_ENDS)


def read_line(line: str, number: int) -> Example | None:
    """
    Return the example in a line of JSON; ``None`` if the line is blank.

    Raises:
        UsageError: The line is not an example; the error names its number and the reason.
    """
    if not isinstance(line, str):
        raise UsageError(f"line {number} is no example: it is {type(line).__name__}, not text")
    if number == 1:
        line = line.removeprefix(_BYTE_ORDER_MARK)
    if not line.strip():
        return None
    try:
        return _read(read_json(line))
    except (NotJsonError, UsageError) as error:
        raise UsageError(f"line {number} is no example: {error}") from error


def _read(value: Json) -> Example:
    if not isinstance(value, Mapping):
        raise UsageError("it is not a JSON object")
    unknown = sorted(set(value) - set(_FIELDS))
    if unknown:
        msg = f"it has the fields {', '.join(unknown)}; an example has {', '.join(_FIELDS)}"
        raise UsageError(msg)
    for name in ("input", "output", "reason"):
        if value.get(name) is not None and not isinstance(value[name], str):
            raise UsageError(f"{name!r} is not text: {value[name]!r}")
    for name in ("input", "output"):
        if value.get(name) is None:
            raise UsageError(f"it has no {name!r}")
    tags = value.get("tags")
    if tags is not None and (not is_list(tags) or len(texts_in(tags)) != len(tags)):
        raise UsageError(f"'tags' is not a list of texts: {tags!r}")
    score = value.get("score")
    if score is not None and _number_in(value, "score") is None:
        raise UsageError(f"'score' is not a number: {score!r}")
    return checked(example_in(value))


def _text_in(value: JsonObject, name: str) -> str | None:
    found = value.get(name)
    return found if isinstance(found, str) else None


def _number_in(value: JsonObject, name: str) -> float | None:
    found = value.get(name)
    return found if is_number(found) else None


def write_of(
    new: Example, stored: Memory | None, evidence: EvidenceMap, trust: Trust
) -> PutMemory | None:
    """
    Return the write that stores *new* over *stored*, ``None`` if it changes nothing.

    Raises:
        ConflictError: The stored example was rejected.
    """
    write = PutMemory(
        type=EXAMPLE_TYPE,
        key=new.identity,
        value=new.as_value(),
        text=new.input,
        expected=0,
        evidence=evidence,
        trust=trust,
        cause="example",
    )
    if stored is None:
        return write
    if stored.state == "rejected":
        msg = f"the example {stored.key} was rejected: erase it before you add it again"
        raise ConflictError(msg)
    # A less trusted writer must not change what a more trusted one stored.
    if least([stored.trust, trust]) != stored.trust:
        return None
    was = example_of(stored) or new
    score = was.score if new.score is None else new.score
    value = replace(was, score=score, tags=new.tags or was.tags).as_value()
    joined = merged_evidence(value, stored.evidence, evidence)
    is_same = value == stored.value and joined == merged_evidence(value, stored.evidence, {})
    if is_same and stored.state == "active" and stored.valid_until is None:
        return None
    return replace(
        write,
        value=value,
        expected=stored.version,
        evidence=joined,
        expires_at=stored.expires_at,
        trust=stored.trust if stored.state == "active" else trust,
    )


def examples_in_force(memories: Sequence[Memory], now: datetime) -> list[Example]:
    """Return the valid examples in *memories* as of *now*; other memories are skipped."""
    found = [example_of(each) for each in memories if holds(each, now)]
    return [each for each in found if each is not None]
