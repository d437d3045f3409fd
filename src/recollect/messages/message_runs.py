"""Merge consecutive messages of one kind, as providers require alternating turns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from recollect.errors import UsageError
from recollect.messages.coercion import MessageLike, coerced_all
from recollect.messages.message_fields import (
    AnyMessage,
    Content,
    changed,
    kind_of,
    mapping_of,
    tool_calls_of,
    whole,
)

# Prefixes of ids that LangChain makes, for runs and in general; any other id is a provider's, and
# takes precedence.
_RUN_ID: Final = "lc_run-"
_MADE_ID: Final = "lc_"
# Equal texts under these names belong to chunks of one item, and are not concatenated.
_SAME: Final = frozenset({"id", "output_version", "model_provider"})
# Numbers under these names are not added: the later one counts.
_LATER: Final = frozenset({"index", "created", "timestamp"})


def merge_message_runs(
    messages: Iterable[MessageLike], *, chunk_separator: str = "\n", lossless: bool = False
) -> list[AnyMessage]:
    """
    Return *messages* with consecutive ones of the same class merged, except tool messages.

    Texts are joined by *chunk_separator*; if one of the messages has content blocks, so has the
    result. The first message's id and metadata are kept, additional_kwargs merged, tool calls
    concatenated, and usage summed. The merged message has no name.

    Args:
        lossless: Keep names and merge only messages of one name, keep a text that follows an empty
            list of blocks, and do not merge function messages and removals.

    Raises:
        UsageError: Consecutive messages are of two functions, of two roles, or removals; or their
            additional_kwargs contradict each other.
    """
    merged: list[AnyMessage] = []
    for message in coerced_all(messages):
        if merged and _is_run(merged[-1], message, lossless=lossless):
            merged[-1] = _joined(merged[-1], message, chunk_separator, lossless=lossless)
        else:
            merged.append(message)
    return merged


def _is_run(last: AnyMessage, message: AnyMessage, *, lossless: bool) -> bool:
    if kind_of(message) == "tool" or not isinstance(message, type(last)):
        return False
    if not lossless:
        return True
    can_merge = kind_of(message) not in {"function", "remove"}
    return can_merge and (last.name, _role(last)) == (message.name, _role(message))


def _role(message: AnyMessage) -> str | None:
    return getattr(message, "role", None) if kind_of(message) == "chat" else None


def _joined(first: AnyMessage, second: AnyMessage, separator: str, *, lossless: bool) -> AnyMessage:
    kind = kind_of(first)
    if kind == "remove":
        msg = f"Unrecognized message class {type(first)}: orders to remove cannot be merged"
        raise UsageError(msg)
    for what, ours, others in (
        ("Function", first.name, second.name),
        ("Chat", _role(first), _role(second)),
    ):
        if kind == what.lower() and ours != others:
            word = "names" if kind == "function" else "roles"
            raise UsageError(f"Cannot concatenate {what}MessageChunks with different {word}.")
    fields: dict[str, object] = {
        "content": _content(first.content, second.content, separator, lossless=lossless),
        "additional_kwargs": _mappings(
            mapping_of(first, "additional_kwargs"), mapping_of(second, "additional_kwargs")
        ),
        "name": first.name if lossless or kind == "function" else None,
    }
    if kind == "ai":
        fields |= _of_ai(first, second)
    return changed(whole(first), **fields)


def _of_ai(first: AnyMessage, second: AnyMessage) -> dict[str, object]:
    calls = [*tool_calls_of(first), *tool_calls_of(second)]
    invalid = [
        *getattr(first, "invalid_tool_calls", ()),
        *getattr(second, "invalid_tool_calls", ()),
    ]
    usages = [mapping_of(each, "usage_metadata") for each in (first, second)]
    has_usage = bool(usages[0]) or getattr(second, "usage_metadata", None) is not None
    return {
        "tool_calls": calls,
        "invalid_tool_calls": invalid,
        "usage_metadata": _usage(*usages) if has_usage else None,
        "id": _best_id(first.id, second.id),
    }


def _best_id(*ids: str | None) -> str | None:
    """Return the most specific id: a provider's, else a run's, else the first."""
    given = [each for each in ids if each]
    ranks = [
        0 if not each.startswith(_MADE_ID) else 1 if each.startswith(_RUN_ID) else 2
        for each in given
    ]
    return given[ranks.index(min(ranks))] if given else None


def _usage(first: Mapping[str, object], second: Mapping[str, object]) -> dict[str, object]:
    """Return the sum of two usage records, field by field."""
    if not first and not second:
        return {"input_tokens": 0, "output_tokens": 0, "total_tokens": 0}
    if not first or not second:
        return dict(first or second)
    summed: dict[str, object] = {}
    for name in [*first, *(each for each in second if each not in first)]:
        ours, others = first.get(name, 0), second.get(name, 0)
        if isinstance(ours, int) and isinstance(others, int):
            summed[name] = ours + others
        else:
            one, other = (each if isinstance(each, Mapping) else {} for each in (ours, others))
            summed[name] = _usage(one, other) if one or other else {}
    return summed


def _content(first: Content, second: Content, separator: str, *, lossless: bool) -> object:
    if isinstance(first, str):
        if isinstance(second, str):
            return f"{first}{separator if first and second else ''}{second}"
        return [first, *second]
    blocks: list[object] = list(first)
    if not isinstance(second, str):
        return _lists(blocks, list(second))
    if blocks and isinstance(last := blocks[-1], str):
        return [*blocks[:-1], last + second]
    return [*blocks, second] if second and (blocks or lossless) else blocks


def _lists(first: list[object], second: Sequence[object]) -> list[object]:
    """Return the lists concatenated; chunks of a block (with the same index) are merged."""
    merged = list(first)
    for each in second:
        place = _index_of_same(merged, each) if isinstance(each, Mapping) else None
        before = None if place is None else merged[place]
        if place is not None and isinstance(before, Mapping) and isinstance(each, Mapping):
            merged[place] = _pieces(before, each)
        else:
            merged.append(each)
    return merged


def _index_of_same(items: Sequence[object], piece: Mapping[str, object]) -> int | None:
    index = piece.get("index")
    if not (isinstance(index, int) or (isinstance(index, str) and index.startswith(_MADE_ID))):
        return None
    found = (
        place
        for place, each in enumerate(items)
        if isinstance(each, Mapping)
        and "index" in each
        and each["index"] == index
        and (not each.get("id") or not piece.get("id") or each.get("id") == piece.get("id"))
    )
    return next(found, None)


def _pieces(first: Mapping[str, object], second: Mapping[str, object]) -> dict[str, object]:
    value = second.get("value")
    if first.get("type") and second.get("type") == "non_standard" and isinstance(value, Mapping):
        rest = {name: each for name, each in value.items() if name != "type"}
        is_known = first["type"] != "non_standard"
        second = {"extras": rest} if is_known else {"value": rest, "index": second["index"]}
    else:
        second = {name: each for name, each in second.items() if name != "type"}
    return _mappings(first, second)


def _mappings(first: Mapping[str, object], second: Mapping[str, object]) -> dict[str, object]:
    """Return both mappings merged: texts and lists are concatenated, numbers added."""
    merged = dict(first)
    for name, each in second.items():
        if merged.get(name) is None:
            merged[name] = each
        elif each is not None:
            merged[name] = _values(name, merged[name], each)
    return merged


def _values(name: str, first: object, second: object) -> object:
    if type(first) is not type(second):
        raise UsageError(
            f'additional_kwargs["{name}"] already exists in this message, but with a different '
            f"type: {type(first).__name__}, {type(second).__name__}."
        )
    if isinstance(first, str) and isinstance(second, str):
        is_made = name == "index" and first.startswith(_MADE_ID)
        return first if is_made or (name in _SAME and first == second) else first + second
    if isinstance(first, Mapping) and isinstance(second, Mapping):
        return _mappings(first, second)
    if isinstance(first, list) and isinstance(second, list):
        return _lists(first, second)
    if first == second:
        return first
    if isinstance(first, int) and isinstance(second, int) and not isinstance(first, bool):
        return second if name in _LATER else first + second
    raise UsageError(
        f"Additional kwargs key {name} already exists in left dict and value has unsupported "
        f"type {type(first)}."
    )
