"""Where a conversation can be cut without parting a tool's result from its call; pure."""

from __future__ import annotations

from collections.abc import Sequence

from recollect.messages.message_fields import AnyMessage, kind_of, tool_call_id_of, tool_calls_of


def past_results(messages: Sequence[AnyMessage], cut: int) -> int:
    """Return where to cut *messages*, from *cut* on, so that no result of a tool comes first."""
    while 0 < cut < len(messages) and _is_result(messages[cut]):
        cut += 1
    return cut


def whole_cut(messages: Sequence[AnyMessage], cut: int) -> int:
    """
    Return where to cut *messages* near *cut*: results stay on the side of the call before them.

    They go with a call that stands before *cut*. Where results of the last call are still to
    come, it stays on the other side, to wait for them.
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
