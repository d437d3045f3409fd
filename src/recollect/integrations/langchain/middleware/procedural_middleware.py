"""Procedural memory as middleware: how an agent works, and how such a task was done before."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, TypeAlias

from langchain_core.messages import SystemMessage

from recollect.agents.examples import Basis, Examples, Selection
from recollect.agents.instructions import Instructions, Prompt
from recollect.errors import UsageError
from recollect.integrations.langchain.example_selector import SelectOptions
from recollect.integrations.langchain.middleware.prompt_placement import (
    asked_in,
    query_of,
    with_block,
)
from recollect.integrations.langchain.middleware.request_middleware import (
    AgentRequest,
    RequestMiddleware,
)
from recollect.integrations.langgraph.caller import Whose, check_whose, present_caller, scope_of
from recollect.integrations.langgraph.home_loop import forwarded
from recollect.records import Scope
from recollect.stores.validation import check_texts
from recollect.sync.method_pairs import PairCall

Presentation: TypeAlias = Literal["block", "messages"]


class InstructionsMiddleware(RequestMiddleware):
    """
    Puts the instructions in force behind an agent's system text, in every request.

    They are read for each call, so that a change, or one that was rolled back, counts at once.

    Args:
        instructions: Whose; they are read on the loop of their memory.
        user: Whose overlay comes behind them: a scope, or a function of the `Caller`.
    """

    def __init__(self, instructions: Instructions, *, user: Whose | None = None) -> None:
        super().__init__()
        self.user = None if user is None else check_whose(user)
        self._instructions = forwarded(instructions)

    async def _prepared(self, call: PairCall, request: AgentRequest) -> AgentRequest:
        """Return *request* with the instructions in force."""
        read, aread = self._instructions.read, self._instructions.aread
        return _instructed(request, await call(read, aread, self._user(request)))

    def _user(self, request: AgentRequest) -> Scope | None:
        return None if self.user is None else scope_of(self.user, present_caller(request.runtime))


class ExamplesMiddleware(RequestMiddleware):
    """
    Shows an agent's model the examples that bear most on the person's last message.

    They stand before that message: as a block of data, or as turns of a person and an
    assistant. The agent's state is never changed.

    Args:
        examples: What to choose from.
        present: ``"block"`` or ``"messages"``.
        count, budget_tokens, by, diversity, min_score, tags: As for `Examples.select`.

    Raises:
        UsageError: *present* is neither, or *tags* is a text.
    """

    def __init__(
        self,
        examples: Examples,
        *,
        present: Presentation = "block",
        count: int = 4,
        budget_tokens: int | None = None,
        by: Basis = "both",
        diversity: float = 0.0,
        min_score: float | None = None,
        tags: Sequence[str] = (),
    ) -> None:
        super().__init__()
        if present not in {"block", "messages"}:
            msg = f"present={present!r}: examples are shown as 'block' or as 'messages'"
            raise UsageError(msg)
        self.present = present
        self._examples = forwarded(examples)
        self._options: SelectOptions = {
            "count": count,
            "budget_tokens": budget_tokens,
            "by": by,
            "diversity": diversity,
            "min_score": min_score,
            "tags": tuple(check_texts(tags, "tag")),
        }

    async def _prepared(self, call: PairCall, request: AgentRequest) -> AgentRequest:
        """Return *request* with the examples for it."""
        words = _asked(request)
        if not words:
            return request
        select, aselect = self._examples.select, self._examples.aselect
        return self._shown(request, await call(select, aselect, words, **self._options))

    def _shown(self, request: AgentRequest, chosen: Selection) -> AgentRequest:
        place = asked_in(request.messages)
        if not chosen.examples or place is None:
            return request
        if self.present == "block":
            return request.override(messages=with_block(request.messages, chosen.render()))
        turns: Any = chosen.messages()
        shown: Any = [*request.messages[:place], *turns, *request.messages[place:]]
        return request.override(messages=shown)


def _asked(request: AgentRequest) -> str:
    place = asked_in(request.messages)
    return "" if place is None else query_of(request.messages[place])


def _instructed(request: AgentRequest, prompt: Prompt) -> AgentRequest:
    if not prompt.text:
        return request
    own = request.system_message
    if own is None:
        return request.override(system_message=SystemMessage(prompt.text))
    content = own.content
    both: object = (
        f"{content}\n\n{prompt.text}"
        if isinstance(content, str)
        else [*content, {"type": "text", "text": prompt.text}]
    )
    return request.override(system_message=own.model_copy(update={"content": both}))
