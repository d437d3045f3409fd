"""Graph nodes that improve an agent's instructions by feedback, and call a model with them."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Any, Final, TypeVar

from langchain_core.messages import BaseMessage
from langchain_core.runnables import Runnable, RunnableLambda

from recollect.agents.instructions import Instructions, Prompt, Scorer, Trajectory
from recollect.errors import ProposalRefusedError, UsageError, VersionConflictError
from recollect.formation.grounding.foreign_text import without_recalled
from recollect.integrations.langgraph.caller import Whose, check_whose, present_caller, scope_of
from recollect.integrations.langgraph.home_loop import forwarded
from recollect.integrations.langgraph.nodes import MESSAGES, GraphState, Node
from recollect.messages import AnyMessage, is_summary, kind_of, text_of
from recollect.records import Scope
from recollect.sync.method_pairs import PairCall, delegated_pair

MessageT = TypeVar("MessageT", bound=BaseMessage)

FEEDBACK: Final = "feedback"
REFLECTIONS_MAX: Final = 5
"""Attempts to propose changes when the rules change meanwhile."""
_WHO: Final = {"human": "user", "ai": "assistant"}


def update_instructions(
    instructions: Instructions,
    *,
    user: Whose | None = None,
    scorer: Scorer | None = None,
    key: str = MESSAGES,
    feedback_key: str = FEEDBACK,
) -> Node:
    """
    Return a node by which a model improves the instructions, from the messages and feedback.

    It does nothing if the state has no feedback, and clears the feedback, so that it counts once.
    If the instructions are *automatic*, the proposal is applied when the node ends, and every later
    node or thread reads it; otherwise it waits for `Instructions.accept`. A refused proposal is
    recorded and changes nothing. If the rules change while the model answers, it is asked again
    with the new ones.

    Args:
        user: The user whose overlay to improve, a scope or a function of the `GraphCaller`; by
            default the agent's own instructions are improved.
        scorer: If given, the new prompt must score better than the old one on the stored cases, as
            for `Instructions.improve`.
        key, feedback_key: The fields of the state with the messages and the feedback.
    """
    whose = None if user is None else check_whose(user)
    at_home = forwarded(instructions)

    async def work(state: GraphState, call: PairCall) -> dict[str, object]:
        talk = _talk_in(state, key, feedback_key)
        if talk is None:
            return {}
        with contextlib.suppress(ProposalRefusedError):
            await _propose(call, at_home, talk, _scope(whose), scorer)
        return {feedback_key: ""}

    update, aupdate = delegated_pair(work)
    return RunnableLambda(update, afunc=aupdate, name="update_instructions")


def call_model(
    model: Runnable[Any, Any],
    instructions: Instructions,
    *,
    user: Whose | None = None,
    key: str = MESSAGES,
) -> Node:
    """
    Return a node that calls a model with the current instructions and the state's messages.

    The instructions are read for each call. They precede the messages as a system message; if the
    state starts with one, they are appended to its text.

    Args:
        model: A LangChain chat model, with its tools bound.
        user: The user whose overlay to add, a scope or a function of the `GraphCaller`.
    """
    whose = None if user is None else check_whose(user)
    at_home = forwarded(instructions)

    async def work(state: GraphState, call: PairCall) -> dict[str, object]:
        prompt = await call(at_home.read, at_home.aread, _scope(whose))
        return {key: [await call(model.invoke, model.ainvoke, _request(prompt, state[key]))]}

    answer, aanswer = delegated_pair(work)
    return RunnableLambda(answer, afunc=aanswer, name="call_model")


async def _propose(
    call: PairCall,
    instructions: Instructions,
    talk: Trajectory,
    user: Scope | None,
    scorer: Scorer | None,
) -> None:
    propose, apropose = instructions.propose, instructions.apropose
    improve, aimprove = instructions.improve, instructions.aimprove
    for left in reversed(range(REFLECTIONS_MAX)):
        try:
            if scorer is None:
                await call(propose, apropose, [talk], user=user)
            else:
                await call(improve, aimprove, [talk], scorer, user=user)
        except VersionConflictError:
            if not left:
                raise
        else:
            return


def _scope(whose: Whose | None) -> Scope | None:
    return None if whose is None else scope_of(whose, present_caller())


def _talk_in(state: GraphState, key: str, feedback_key: str) -> Trajectory | None:
    feedback = state.get(feedback_key) or ""
    if not isinstance(feedback, str):
        raise UsageError(f"the feedback in {feedback_key!r} is {str(feedback)[:80]!r}: give text")
    if not feedback.strip():
        return None
    lines = [
        (_WHO.get(kind_of(each), kind_of(each)), words)
        for each in state.get(key, ())
        if not is_summary(each) and (words := without_recalled(text_of(each)).strip())
    ]
    return Trajectory(lines=tuple(lines), feedback=feedback)


def _request(prompt: Prompt, messages: Sequence[BaseMessage]) -> list[AnyMessage]:
    if not prompt.text:
        return list(messages)
    if messages and messages[0].type == "system":
        return [with_text_after(messages[0], prompt.text), *messages[1:]]
    return [*prompt.messages(), *messages]


def with_text_after(message: MessageT, text: str) -> MessageT:
    """Return *message* with *text* appended to its content, a text or a list of blocks."""
    own = message.content
    both: object = (
        f"{own}\n\n{text}" if isinstance(own, str) else [*own, {"type": "text", "text": text}]
    )
    return message.model_copy(update={"content": both})
