"""Runs of a smolagents agent in one thread of a memory, and the memory tools for it."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, Final
from weakref import WeakKeyDictionary

from smolagents import ActionStep, MultiStepAgent, TaskStep, Tool
from smolagents.monitoring import Timing

from recollect.errors import UsageError
from recollect.integrations.offered_tools import Offered, answer_text, schemas_of
from recollect.integrations.storable_items import ItemForm, storable_text
from recollect.integrations.thread_items import Item, ThreadItems, check_budget, check_limit
from recollect.memory.facade import Recollect
from recollect.ports import Tool as OfferedTool
from recollect.records import Json, Message, Scope, ScopeLike
from recollect.stores.validation import check_scope
from recollect.sync.facade import SyncRecollect
from recollect.sync.object_home import Home
from recollect.text.scope_paths import written_scope

_KNOWN_TYPES: Final = frozenset({"string", "boolean", "integer", "number", "array", "object"})
FORM: Final = ItemForm("smolagents")
BUDGET_TOKENS: Final = 1_000
_LOGS: Final = "Execution logs:"
_LAST_OUTPUT: Final = "Last output from code snippet:"
"""How smolagents heads what a step's code printed, and its value, which is the answer."""
HISTORY: Final = 20
"""The newest messages of the thread that a run gets by default."""
# Outside the agents, since an attribute with a lock would keep them from being copied.
_claims: Final[WeakKeyDictionary[MultiStepAgent, AgentClaim]] = WeakKeyDictionary()
_claiming: Final = Lock()
_held: Final[ContextVar[frozenset[int]]] = ContextVar("recollect_held_agents", default=frozenset())


class RecollectConversation:
    """
    Runs an agent in one thread: call `run` instead of ``agent.run``.

    A run gets the messages of the thread, and the context of its task after the agent's own
    ``instructions``. The task is appended before the run, so that the memory tools can quote it;
    tool results and the answer are appended when it ends.

    An agent belongs to one scope, since it keeps variables between runs; runs of several
    conversations with it take turns.
    """

    def __init__(
        self,
        agent: MultiStepAgent,
        memory: SyncRecollect,
        scope: ScopeLike,
        thread: str,
        *,
        budget_tokens: int = BUDGET_TOKENS,
        limit: int | None = HISTORY,
    ) -> None:
        """
        Create a conversation with an agent, over an open memory.

        Args:
            scope: The scope of the thread, and of the recalled context.
            thread: The conversation; it need not exist.
            budget_tokens: The most tokens of recalled context.
            limit: The number of newest messages of the thread that a run gets; 0 for none,
                ``None`` for all.

        Raises:
            UsageError: *agent* is no agent, or one of another scope; or another argument is
                invalid.
        """
        if not isinstance(agent, MultiStepAgent):
            raise UsageError(f"agent is {agent!r}: give a ToolCallingAgent or a CodeAgent")
        self.agent = agent
        self._home = Home.of_sync(memory)
        self._scope = check_scope(scope)
        self._thread = thread
        self._budget_tokens = check_budget(budget_tokens)
        self._limit = check_limit(limit)
        claim_agent(agent, self._scope)

    def run(self, task: str, **options: Any) -> Any:
        """
        Run the agent for *task*, with the *options* of its own ``run``.

        Raises:
            UsageError: *options* has ``stream`` or ``reset``: a run always ends, and always
                continues its thread. Or a tool of the agent's own run calls this.
        """
        if wrong := {"stream", "reset"}.intersection(options):
            raise UsageError(
                f"run has no option {', '.join(sorted(wrong))}: it returns the final result, and "
                "continues its thread"
            )
        if not isinstance(task, str):
            raise UsageError(f"a task is text, not {task!r}")
        claim_agent(self.agent, self._scope)  # again: it may manage more agents by now
        with hold_agent(self.agent):
            return self._run(task, options)

    def _run(self, task: str, options: Mapping[str, Any]) -> Any:
        history, context = self._home.call(lambda memory: self._read(memory, task))
        own = self.agent.instructions
        self.agent.memory.steps = [*history]
        self.agent.instructions = "\n\n".join(part for part in (own, context) if part) or None
        asked: Item = ("user", task, {"task": task})
        self._home.call(lambda memory: self._items(memory).append_input([asked]))
        try:
            result = self.agent.run(task, reset=False, **options)
        finally:
            self.agent.instructions = own
        output = getattr(result, "output", result)
        new = self.agent.memory.steps[len(history) :]
        said = _returned(new, str(output))
        self._append([*said, ("assistant", str(output), {"answer": str(output)})])
        return result

    async def _read(self, memory: Recollect, task: str) -> tuple[list[TaskStep | ActionStep], str]:
        """Return the steps of the thread so far, and the context of *task*."""
        items = self._items(memory)
        kept = await items.read(self._limit)
        if kept and (kept[-1][0].role, kept[-1][0].text) == ("user", storable_text(task)):
            del kept[-1]  # a run that failed, which is tried again
        shown = [message.text for message, _ in kept]
        context = await items.context(task, self._budget_tokens, shown=[*shown, task])
        return [_step_of(*each) for each in kept], context

    def _append(self, said: Sequence[Item]) -> None:
        self._home.call(lambda memory: self._items(memory).append(said))

    def _items(self, memory: Recollect) -> ThreadItems:
        return ThreadItems(memory, self._scope, self._thread, FORM)


def _returned(steps: Sequence[object], answer: str) -> list[Item]:
    """Return the tool results of a run, and what its last step printed beside the answer."""
    found = [
        _printed(str(step.observations), answer) if step.is_final_answer else str(step.observations)
        for step in steps
        if isinstance(step, ActionStep) and step.observations
    ]
    return [("tool", each, {"observations": each}) for each in found if each]


def _printed(observations: str, answer: str) -> str:
    """Return the observations of a last step without the answer; ``""`` if nothing is left."""
    logs = observations.partition(_LAST_OUTPUT)[0]
    said = logs.removeprefix(_LOGS).strip()
    return "" if said == answer.strip() else said


def _step_of(message: Message, kept: Json) -> TaskStep | ActionStep:
    """Return the step of a message, which another framework may have stored."""
    fields = kept if isinstance(kept, Mapping) else {}
    if message.role == "user":
        return TaskStep(task=str(fields.get("task", message.text)))
    now = time.time()
    said = {"observations" if message.role == "tool" else "model_output": message.text}
    return ActionStep(step_number=0, timing=Timing(start_time=now, end_time=now), **said)


@dataclass(slots=True)
class AgentClaim:
    """The scope that uses an agent, and the lock of its runs."""

    scope: Scope
    lock: Lock = field(default_factory=Lock)


def claim_agent(agent: MultiStepAgent, scope: Scope) -> None:
    """
    Note that *agent*, with those that it manages, belongs to *scope*.

    Raises:
        UsageError: It belongs to another scope. Its variables and its code's outlive a run, so
            that one user's words would reach another's model.
    """
    family = _family(agent)
    with _claiming:
        for each in family:
            claim = _claims.get(each)
            if claim is not None and claim.scope != scope:
                raise UsageError(
                    f"the agent belongs to the scope {written_scope(claim.scope)} and keeps what "
                    f"was said there: give each conversation of {written_scope(scope)} an agent of "
                    "its own"
                )
        for each in family:
            _claims.setdefault(each, AgentClaim(scope))


@contextmanager
def hold_agent(agent: MultiStepAgent) -> Iterator[None]:
    """
    Wait until no other conversation runs *agent*, or one that it manages, and hold them.

    Raises:
        UsageError: This very run holds one of them, and would wait for itself.
    """
    family = {id(each): each for each in _family(agent)}
    held = _held.get()
    if held & family.keys():
        raise UsageError(
            "the agent is running, and a tool of its run runs it: give it another agent"
        )
    with ExitStack() as locks:
        # In one order, so that two runs that share managed agents never wait for each other.
        for key in sorted(family):
            locks.enter_context(_claims[family[key]].lock)
        token = _held.set(held | family.keys())
        try:
            yield
        finally:
            _held.reset(token)


def _family(agent: MultiStepAgent) -> list[MultiStepAgent]:
    """Return *agent* and all that it manages, each once."""
    found = [agent]
    for each in found:
        managed = getattr(each, "managed_agents", None) or {}
        found += [other for other in managed.values() if all(other is not one for one in found)]
    return found


def memory_tools(tools: Offered) -> list[Tool]:
    """
    Return the four memory tools for ``tools=`` of an agent.

    Each returns the result of its call as JSON text. A call must quote stored messages: use a
    `RecollectConversation` over the same thread.
    """
    return [SmolagentsMemoryTool(tools, each) for each in schemas_of(tools)]


class SmolagentsMemoryTool(Tool):  # type: ignore[misc] # it ships no types
    """One of the memory tools; an invalid call is refused in its answer."""

    skip_forward_signature_validation = True
    output_type = "string"

    def __init__(self, tools: Offered, offered: OfferedTool) -> None:
        """Create the tool that *offered* describes."""
        super().__init__()
        self._tools = tools
        self.name = offered.name
        self.description = offered.description
        self.inputs = _inputs_of(offered.parameters)

    def forward(self, *args: Any, **arguments: Any) -> str:
        """Run a call; positional arguments are in the order of *inputs*."""
        given = {**dict(zip(self.inputs, args, strict=False)), **arguments}
        return answer_text(self._tools.call(self.name, given))


def _inputs_of(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return the properties of a schema as smolagents' inputs, with types and descriptions."""
    required = set(parameters.get("required", ()))
    inputs = {}
    for name, schema in parameters.get("properties", {}).items():
        type_ = schema.get("type")
        inputs[name] = {
            **schema,
            "type": type_ if type_ in _KNOWN_TYPES else "object",
            "description": str(schema.get("description", name)),
            **({} if name in required else {"nullable": True}),
        }
    return inputs
