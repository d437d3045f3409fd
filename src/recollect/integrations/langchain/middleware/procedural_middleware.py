"""Middleware that adds an agent's instructions, and examples of similar tasks, to requests."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias, Unpack

from langchain_core.messages import SystemMessage

from recollect.agents.examples import Examples, Selection
from recollect.agents.examples.selection import SelectionOptions
from recollect.agents.instructions import Instructions, Prompt
from recollect.errors import UsageError
from recollect.integrations.langchain.example_selector import SelectOptions
from recollect.integrations.langchain.middleware.request_middleware import (
    AgentRequest,
    RequestMiddleware,
    asked_in,
    query_of,
    with_block,
)
from recollect.integrations.langgraph.caller import Whose, check_whose, present_caller, scope_of
from recollect.integrations.langgraph.home_loop import forwarded
from recollect.integrations.langgraph.procedural_nodes import with_text_after
from recollect.sync.method_pairs import PairCall

Presentation: TypeAlias = Literal["block", "messages"]


class InstructionsMiddleware(RequestMiddleware):
    """
    Appends the current instructions to an agent's system text, in every request.

    They are read for each call, so that a change or a rollback takes effect at once.

    Args:
        instructions: The instructions, read on the event loop of their memory.
        user: The user whose overlay to add: a scope, or a function of the `GraphCaller`.
    """

    def __init__(self, instructions: Instructions, *, user: Whose | None = None) -> None:
        super().__init__()
        self.user = None if user is None else check_whose(user)
        self._instructions = forwarded(instructions)

    async def _prepared(self, call: PairCall, request: AgentRequest) -> AgentRequest:
        """Return *request* with the current instructions."""
        read, aread = self._instructions.read, self._instructions.aread
        user = None if self.user is None else scope_of(self.user, present_caller(request.runtime))
        return _with_instructions(request, await call(read, aread, user))


class ExamplesMiddleware(RequestMiddleware):
    """
    Shows an agent's model the examples most relevant to the user's last message.

    They precede that message: as a block of data, or as turns of a user and an assistant. The
    agent's state is never changed.

    Args:
        examples: The examples to select from.
        present: ``"block"`` or ``"messages"``.
        options: As for `Examples.select`.

    Raises:
        UsageError: *present* is neither, or an option is outside its range.
    """

    def __init__(
        self,
        examples: Examples,
        *,
        present: Presentation = "block",
        **options: Unpack[SelectOptions],
    ) -> None:
        super().__init__()
        if present not in {"block", "messages"}:
            raise UsageError(f"present={present!r}: show examples as 'block' or as 'messages'")
        self.present = present
        self._examples = forwarded(examples)
        SelectionOptions(**options)  # validates the options now, not at the first request
        self._options = options

    async def _prepared(self, call: PairCall, request: AgentRequest) -> AgentRequest:
        """Return *request* with the examples for it."""
        query = _query_in(request)
        if not query:
            return request
        select, aselect = self._examples.select, self._examples.aselect
        return self._with_examples(request, await call(select, aselect, query, **self._options))

    def _with_examples(self, request: AgentRequest, chosen: Selection) -> AgentRequest:
        place = asked_in(request.messages)
        if not chosen.examples or place is None:
            return request
        if self.present == "block":
            return request.override(messages=with_block(request.messages, chosen.render()))
        turns: Any = chosen.messages()
        shown: Any = [*request.messages[:place], *turns, *request.messages[place:]]
        return request.override(messages=shown)


def _query_in(request: AgentRequest) -> str:
    place = asked_in(request.messages)
    return "" if place is None else query_of(request.messages[place])


def _with_instructions(request: AgentRequest, prompt: Prompt) -> AgentRequest:
    if not prompt.text:
        return request
    own = request.system_message
    if own is None:
        return request.override(system_message=SystemMessage(prompt.text))
    return request.override(system_message=with_text_after(own, prompt.text))
