"""Filter messages by name, type, id and tool call."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from recollect.messages.coercion import MessageLike, coerced_all
from recollect.messages.message_fields import (
    AnyMessage,
    changed,
    is_type,
    kind_of,
    tool_call_id_of,
    tool_calls_of,
)
from recollect.messages.pairs import whole_pairs as only_whole_pairs


def filter_messages(
    messages: Iterable[MessageLike],
    *,
    include_names: Sequence[str] | None = None,
    exclude_names: Sequence[str] | None = None,
    include_types: Sequence[str | type] | None = None,
    exclude_types: Sequence[str | type] | None = None,
    include_ids: Sequence[str] | None = None,
    exclude_ids: Sequence[str] | None = None,
    exclude_tool_calls: Collection[str] | bool | None = None,
    whole_pairs: bool = False,
) -> list[AnyMessage]:
    """
    Return the *messages* included by a rule and excluded by none, in order.

    Without an including rule, all messages are included. Types are names (``"human"``) or classes.

    Args:
        exclude_tool_calls: True drops every AI message with tool calls, and every tool message. A
            list, tuple or set of ids drops these calls and their results; an AI message without
            other calls is dropped as a whole.
        whole_pairs: Also drop results whose calls were dropped, and vice versa.
    """
    given = coerced_all(messages)
    if exclude_tool_calls is True:
        found = [each for each in given if not tool_calls_of(each) and kind_of(each) != "tool"]
    elif isinstance(exclude_tool_calls, list | tuple | set | frozenset):
        without = (_without_calls(each, exclude_tool_calls) for each in given)
        found = [each for each in without if each is not None]
    else:
        found = given
    found = [
        each
        for each in found
        if not _matches(each, exclude_names, exclude_types, exclude_ids)
        and (
            not (include_names or include_types or include_ids)
            or _matches(each, include_names, include_types, include_ids)
        )
    ]
    return only_whole_pairs(found, given) if whole_pairs else found


def _matches(
    message: AnyMessage,
    names: Sequence[str] | None,
    types: Sequence[str | type] | None,
    ids: Sequence[str] | None,
) -> bool:
    return bool(
        (names and message.name in _listed(names))
        or (types and is_type(message, types))
        or (ids and message.id in _listed(ids))
    )


def _listed(names: Sequence[str]) -> Sequence[str]:
    """Return *names* as a sequence; a single text counts as one name."""
    return [names] if isinstance(names, str) else names


def _without_calls(message: AnyMessage, ids: Collection[str]) -> AnyMessage | None:
    """Return *message* without the calls with these *ids*; ``None`` to drop it."""
    if kind_of(message) == "tool":
        return None if tool_call_id_of(message) in ids else message
    calls = tool_calls_of(message)
    if not calls:
        return message
    left = [call for call in calls if call.get("id") not in ids]
    if not left:
        return None
    content = message.content
    if not isinstance(content, str):
        # Anthropic's messages repeat the calls as content blocks.
        content = [block for block in content if not _is_use(block, ids)]
    return changed(message, tool_calls=left, content=content)


def _is_use(block: object, ids: Collection[str]) -> bool:
    return isinstance(block, Mapping) and block.get("type") == "tool_use" and block.get("id") in ids
