"""Keep tool calls with their results, as providers reject one without the other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from recollect.messages.message_fields import (
    AnyMessage,
    MessageT,
    kind_of,
    mapping_of,
    tool_call_id_of,
    tool_calls_of,
)


def tool_pairs(messages: Sequence[AnyMessage]) -> list[range]:
    """
    Return ranges of *messages* that must not be split, in order.

    A range reaches from an AI message with calls to the last result of any of them, including the
    messages between; overlapping ranges are merged. Any other message is a range of its own.

    >>> from recollect.messages import AIMessage, HumanMessage, ToolMessage
    >>> call = {"name": "weather", "args": {}, "id": "1"}
    >>> tool_pairs([HumanMessage("?"), AIMessage("", tool_calls=[call]),
    ...             ToolMessage("sun", tool_call_id="1")])
    [range(0, 1), range(1, 3)]
    """
    ends = {caller: max(answers) for caller, answers in _answers(messages).items()}
    groups: list[range] = []
    for place in range(len(messages)):
        end = ends.get(place, place) + 1
        if groups and place < groups[-1].stop:
            groups[-1] = range(groups[-1].start, max(groups[-1].stop, end))
        else:
            groups.append(range(place, end))
    return groups


def whole_pairs(kept: Sequence[MessageT], messages: Sequence[AnyMessage]) -> list[MessageT]:
    """
    Return *kept* without incomplete pairs of calls and results that are complete in *messages*.

    A result whose call is not kept is dropped; so is a call, with its other results, if one of its
    results in *messages* is not kept. Calls without any results stay.
    """
    answered = {call for place in _answers(messages) for call in _calls(messages[place])} & {
        _answered(each) for each in messages
    }
    result = list(kept)
    # Dropping a call can orphan its results, and the other way round: repeat until stable.
    while True:
        answers = _answers(result)
        found = {place for places in answers.values() for place in places}
        there = {_answered(result[place]) for place in found}
        broken = {
            place
            for place, message in enumerate(result)
            if any(call in answered and call not in there for call in _calls(message))
        }
        orphans = {
            place
            for place, message in enumerate(result)
            if _answered(message) is not None and place not in found
        }
        if not broken | orphans:
            return result
        result = [each for place, each in enumerate(result) if place not in broken | orphans]


def _answers(messages: Sequence[AnyMessage]) -> dict[int, list[int]]:
    """Return the indexes of each calling message's results, by its own index."""
    caller_of: dict[str, int] = {}
    found: dict[int, list[int]] = {}
    for place, message in enumerate(messages):
        caller_of.update(dict.fromkeys(_calls(message), place))
        call = _answered(message)
        if call is not None and call in caller_of:
            found.setdefault(caller_of[call], []).append(place)
    return found


def _calls(message: AnyMessage) -> Iterator[str]:
    """Yield the names by which results refer to the calls of *message*."""
    for call in tool_calls_of(message):
        yield f"id {call.get('id')}"
    function = mapping_of(message, "additional_kwargs").get("function_call")
    if kind_of(message) == "ai" and isinstance(function, dict):
        yield f"function {function.get('name')}"


def _answered(message: AnyMessage) -> str | None:
    """Return the name by which a result refers to its call; ``None`` for any other message."""
    if (call := tool_call_id_of(message)) is not None:
        return f"id {call}"
    return f"function {message.name}" if kind_of(message) == "function" else None


def past_results(messages: Sequence[AnyMessage], cut: int) -> int:
    """Return the first cut at or after *cut* that does not start with a tool result."""
    while 0 < cut < len(messages) and _is_result(messages[cut]):
        cut += 1
    return cut


def whole_cut(messages: Sequence[AnyMessage], cut: int) -> int:
    """
    Return a cut near *cut* that keeps tool results with their call.

    Results of a call before *cut* move before it. A last call without all its results stays after
    the cut.
    """
    cut = past_results(messages, cut)
    call = cut - 1
    while call >= 0 and _is_result(messages[call]):
        call -= 1
    if call < 0 or cut < len(messages):
        return cut
    answered = {tool_call_id_of(each) for each in messages[call + 1 : cut]}
    called = {each.get("id") for each in tool_calls_of(messages[call])}
    return cut if called <= answered else call


def _is_result(message: AnyMessage) -> bool:
    return kind_of(message) in {"tool", "function"}
