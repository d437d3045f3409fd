"""Instructions as nodes of a graph: one that improves them by feedback, one that works by them."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Any, Final

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

FEEDBACK: Final = "feedback"
REFLECTIONS_MAX: Final = 5
"""So often the model is asked anew because somebody else changed the rules meanwhile."""
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
    Return a node that has a model propose better instructions, of the talk and its feedback.

    It does nothing where the state has no feedback, and takes the feedback out of the state, so
    that it counts once. Where the instructions are *automatic* the proposal is in force when the
    node has ended, and every node after it, or in another thread, reads it; else it waits for
    `Instructions.accept`. One that is refused (it breaks a rule) is on record, and changes nothing.
    Where others change the rules while the model thinks, it is asked again, of the new ones.

    Args:
        user: Whose overlay is improved, a scope or a function of the `Caller`; by default the
            agent's own instructions.
        scorer: With it the new prompt must do better than the old one on the cases that are kept,
            as by `Instructions.improve`.
        key, feedback_key: The fields of the state.
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
    Return a node that answers the messages of the state by the instructions in force.

    They are read at each call, and stand before the messages as the system message; where the
    state begins with one, behind its text.

    Args:
        model: A chat model of LangChain's, with its tools bound.
        user: Whose overlay comes behind the agent's own, a scope or a function of the `Caller`.
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
        msg = f"the feedback in {feedback_key!r} is text, not {str(feedback)[:80]!r}"
        raise UsageError(msg)
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
        own = messages[0].content
        both: object = (
            f"{own}\n\n{prompt.text}"
            if isinstance(own, str)
            else [*own, {"type": "text", "text": prompt.text}]
        )
        return [messages[0].model_copy(update={"content": both}), *messages[1:]]
    return [*prompt.messages(), *messages]
