"""Find cuts of a conversation that do not separate tool calls from results; pure functions."""

from __future__ import annotations

from collections.abc import Sequence

from recollect.messages.message_fields import AnyMessage, kind_of, tool_call_id_of, tool_calls_of


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
    return cut if _called(messages[call]) <= answered else call


def _is_result(message: AnyMessage) -> bool:
    return kind_of(message) in {"tool", "function"}


def _called(message: AnyMessage) -> set[object]:
    return {call.get("id") for call in tool_calls_of(message)}
