"""Runs of a smolagents agent in one thread of a memory."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any, Final

from smolagents import ActionStep, MultiStepAgent, TaskStep
from smolagents.monitoring import Timing

from recollect.errors import UsageError
from recollect.integrations.thread_items import ThreadItems
from recollect.memory.facade import Recollect
from recollect.records import Json, Message, Role, ScopeLike
from recollect.stores.validation import check_scope, check_text
from recollect.sync.facade import SyncRecollect
from recollect.sync.object_home import Home

KIND: Final = "smolagents"
BUDGET_TOKENS: Final = 1_000
HISTORY: Final = 20
"""So many of the newest messages of its thread a run is shown, unless told otherwise."""


class RecollectConversation:
    """
    Runs an agent in one thread: `run` in the place of ``agent.run``.

    A run is shown the thread, and what bears on its task stands behind the agent's own
    ``instructions``. The task is appended before the run, so that the memory tools can quote it;
    what tools returned and the answer are appended when it ends.
    """

    def __init__(
        self,
        agent: MultiStepAgent,
        memory: SyncRecollect,
        scope: ScopeLike,
        thread: str,
        *,
        budget_tokens: int = BUDGET_TOKENS,
        limit: int = HISTORY,
    ) -> None:
        """
        Make a conversation with an agent, over an open memory.

        Args:
            scope: Whose memory it is.
            thread: The conversation; it need not exist.
            budget_tokens: What a run is told of the memory at most.
            limit: As many of the thread's newest messages a run is shown.
        """
        self.agent = agent
        self._home = Home(memory)
        self._scope = check_scope(scope)
        self._thread = thread
        self._budget_tokens = budget_tokens
        self._limit = limit

    def run(self, task: str, **options: Any) -> Any:
        """
        Run the agent for *task*, with the *options* of its own ``run``.

        Raises:
            UsageError: *options* has ``stream``, or ``reset``: the thread is what a run goes on
                with.
        """
        if wrong := {"stream", "reset"}.intersection(options):
            msg = (
                f"{', '.join(sorted(wrong))}: a run is read to its end, and goes on with its thread"
            )
            raise UsageError(msg)
        check_text(task, "a task")
        history, told = self._home.call(lambda memory: self._read(memory, task))
        own = self.agent.instructions
        self.agent.memory.steps = [*history]
        self.agent.instructions = "\n\n".join(part for part in (own, told) if part) or None
        self._append([("user", task, {"task": task})])
        try:
            result = self.agent.run(task, reset=False, **options)
        finally:
            self.agent.instructions = own
        output = getattr(result, "output", result)
        new = self.agent.memory.steps[len(history) :]
        self._append([*_returned(new), ("assistant", str(output), {"answer": str(output)})])
        return result

    async def _read(self, memory: Recollect, task: str) -> tuple[list[Any], str]:
        """Return the steps of the thread so far, and what of the memory bears on *task*."""
        items = self._items(memory)
        kept = await items.read(self._limit)
        return [_step_of(*each) for each in kept], await items.context(task, self._budget_tokens)

    def _append(self, said: Sequence[tuple[Role, str, Json]]) -> None:
        self._home.call(lambda memory: self._items(memory).append(said))

    def _items(self, memory: Recollect) -> ThreadItems:
        return ThreadItems(memory, self._scope, self._thread, kind=KIND)


def _returned(steps: Sequence[Any]) -> list[tuple[Role, str, Json]]:
    """Return what the tools of a run returned; its answer is no observation."""
    found = (
        str(step.observations)
        for step in steps
        if isinstance(step, ActionStep) and step.observations and not step.is_final_answer
    )
    return [("tool", each, {"observations": each}) for each in found]


def _step_of(message: Message, kept: Json) -> TaskStep | ActionStep:
    """Return the step of a message, which another framework may have written."""
    fields: Mapping[str, Any] = kept if isinstance(kept, Mapping) else {}
    if message.role == "user":
        return TaskStep(task=str(fields.get("task", message.text)))
    now = time.time()
    said = {"observations" if message.role == "tool" else "model_output": message.text}
    return ActionStep(step_number=0, timing=Timing(start_time=now, end_time=now), **said)
