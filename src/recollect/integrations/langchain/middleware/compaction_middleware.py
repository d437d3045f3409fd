"""`CompactionMiddleware`: shortens long conversations in an agent's model requests."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Annotated, Any, Final, NotRequired

from langchain.agents.middleware import AgentState
from langchain.agents.middleware.types import PrivateStateAttr
from langgraph.runtime import Runtime

from recollect.conversation.model_prompt import MemoryModel
from recollect.integrations.langchain.middleware.request_middleware import (
    AgentRequest,
    RequestMiddleware,
)
from recollect.integrations.langgraph.sync_wait import waited
from recollect.messages import (
    Compaction,
    CompactionLimits,
    MessageCounter,
    SummaryPlan,
    compacted,
    plan_compaction,
    rough_tokens,
    summary_of,
)
from recollect.messages.compaction import KEEP_MESSAGES
from recollect.messages.summarization import INPUT_TOKENS_MAX, OUTPUT_TOKENS_MAX
from recollect.sync.method_pairs import PairCall, delegated_pair

COMPACTED: Final = "recollect_compacted"
"""The field of an agent's state that records the cut and the summary."""


class CompactedState(AgentState[Any]):
    """The state of an agent, with the recorded compaction."""

    recollect_compacted: NotRequired[Annotated[dict[str, str | None] | None, PrivateStateAttr]]


class CompactionMiddleware(RequestMiddleware):
    """
    Shortens a long conversation for an agent's model, by cutting or summarising it.

    The agent's state keeps every message; the cut and the summary are stored beside them (and so in
    its checkpoints). Between two compactions each request starts like the previous one, so that a
    provider's prompt cache applies. Tool calls are never separated from their results, and the
    user's last message stays. The summary is extended with the messages newly cut.

    Args:
        model: The summarising model: as for `recollect.open`, or a LangChain model; ``None`` to cut
            without a summary.
        trigger_messages, trigger_tokens: Compact when a request has this many messages, or tokens.
        keep, keep_tokens: How much of the end is kept; see `CompactionLimits`.
        counter: Counts tokens; an estimate by default.

    Raises:
        UsageError: There is no trigger, or a number is below 1.
    """

    state_schema = CompactedState

    def __init__(
        self,
        model: object = None,
        *,
        trigger_messages: int | None = None,
        trigger_tokens: int | None = None,
        keep: int = KEEP_MESSAGES,
        keep_tokens: int | None = None,
        counter: MessageCounter | str = rough_tokens,
        input_tokens_max: int = INPUT_TOKENS_MAX,
        output_tokens_max: int = OUTPUT_TOKENS_MAX,
    ) -> None:
        super().__init__()
        self.limits = CompactionLimits(
            trigger_messages=trigger_messages,
            trigger_tokens=trigger_tokens,
            keep=keep,
            keep_tokens=keep_tokens,
        )
        self._asking = None if model is None else MemoryModel(model)
        self._counter = counter
        self._input_tokens_max = input_tokens_max
        self._output_tokens_max = output_tokens_max

    async def _before_model(
        self, call: PairCall, state: object, runtime: Runtime[Any]
    ) -> dict[str, object] | None:
        """
        Compact the conversation if a trigger is reached.

        Raises:
            ModelError: The model failed or refused, or its summary was cut off; nothing changed.
        """
        plan = self._plan(state)
        if plan is None:
            return None
        if self._asking is None:
            return _update(plan, None)
        summarise = partial(self._summary, self._asking, plan)
        return _update(plan, await call(partial(waited, summarise), summarise))

    before_model, abefore_model = delegated_pair(_before_model)

    async def _prepared(self, call: PairCall, request: AgentRequest) -> AgentRequest:
        """Return *request* with the compacted conversation."""
        compaction = compaction_in(request.state)
        if compaction is None:
            return request
        messages: Any = compacted(request.messages, compaction)
        return request.override(messages=messages)

    def _plan(self, state: Any) -> SummaryPlan | None:
        return plan_compaction(
            state["messages"],
            self.limits,
            compaction=compaction_in(state),
            counter=self._counter,
        )

    async def _summary(self, asking: MemoryModel, plan: SummaryPlan) -> str | None:
        return await summary_of(
            plan,
            asking.model,
            counter=self._counter,
            input_tokens_max=self._input_tokens_max,
            output_tokens_max=self._output_tokens_max,
        )


def compaction_in(state: Mapping[str, object]) -> Compaction | None:
    """Return the compaction recorded in a state; ``None`` if there is none."""
    kept = state.get(COMPACTED)
    if not isinstance(kept, Mapping) or not kept.get("through"):
        return None
    return Compaction(through=str(kept["through"]), summary=kept.get("summary"))


def _update(plan: SummaryPlan, summary: str | None) -> dict[str, object]:
    return {COMPACTED: {"through": plan.old[-1].id, "summary": summary}}
