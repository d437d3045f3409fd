"""Prompts with checked variables, and the model that answers them."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterable, Sequence
from functools import cached_property
from typing import Any, Final, Protocol, TypeAlias, runtime_checkable

from recollect.errors import ModelError, UsageError
from recollect.formation.prompt import filled
from recollect.messages import AnyMessage, coerced_all, kind_of, text_of
from recollect.models.model_choice import open_model
from recollect.observability.spans import answer_of
from recollect.ports import Model, ModelRequest, Turn


@runtime_checkable
class ForeignPrompt(Protocol):
    """The methods needed of LangChain's prompt templates, of text or of messages."""

    @property
    def input_variables(self) -> list[str]:
        """The variables of the prompt."""
        ...

    def format_prompt(self, **variables: str) -> Any:
        """Return the prompt with its variables filled in."""
        ...


PromptChoice: TypeAlias = str | ForeignPrompt
"""A text with ``{name}`` placeholders (a literal brace is doubled), or a LangChain template."""

_PLACE: Final = re.compile(r"\{\{|\}\}|\{([^{}]*)\}|[{}]")


def places_in(text: str) -> list[str]:
    """
    Return the names of the placeholders in *text*, sorted.

    >>> places_in("{new} after {old}; {{}} is a brace, {old} again")
    ['new', 'old']

    Raises:
        UsageError: It has a single brace, or a placeholder that is not an identifier.
    """
    named: set[str] = set()
    for found in _PLACE.finditer(text):
        if found[0] in {"{{", "}}"}:
            continue
        if not (found[1] or "").isidentifier():
            msg = f"the prompt has {found[0]!r}, which is no placeholder: double a literal brace"
            raise UsageError(msg)
        named.add(found[1])
    return sorted(named)


def variables_of(prompt: PromptChoice) -> list[str]:
    """
    Return the variables of *prompt*.

    Raises:
        UsageError: It is not a prompt, or its text has an invalid placeholder.
    """
    if isinstance(prompt, str):
        return places_in(prompt)
    if isinstance(prompt, ForeignPrompt):
        return list(prompt.input_variables)
    msg = f"{prompt!r} is no prompt: give text with {{name}} placeholders, or a prompt template"
    raise UsageError(msg)


def checked_exactly(prompt: PromptChoice, expected: Iterable[str]) -> PromptChoice:
    """
    Return *prompt* if its variables are exactly the *expected* ones.

    Raises:
        UsageError: It has others, or lacks one.
    """
    named = variables_of(prompt)
    if set(named) != set(expected):
        raise UsageError(
            f"Got unexpected prompt input variables. The prompt expects {named}, "
            f"but it should have {sorted(expected)}."
        )
    return prompt


def checked(prompt: PromptChoice, known: Iterable[str]) -> PromptChoice:
    """
    Return *prompt* if all its variables are *known*.

    Raises:
        UsageError: A variable is not known, so it would have no value.
    """
    if unknown := set(variables_of(prompt)) - set(known):
        raise UsageError(
            f"the prompt has variables that this memory does not fill: "
            f"{', '.join(sorted(unknown))}; use {', '.join(sorted(known))}"
        )
    return prompt


def request_of(prompt: PromptChoice, **variables: str) -> ModelRequest:
    """Return the model request for *prompt* with its variables filled in."""
    if isinstance(prompt, str):
        return ModelRequest(system="", turns=(Turn(role="user", text=filled(prompt, **variables)),))
    asked = {name: variables[name] for name in prompt.input_variables}
    return request_with(coerced_all(prompt.format_prompt(**asked)))


def request_with(messages: Sequence[AnyMessage]) -> ModelRequest:
    """Return a request of *messages*: system messages joined as its system text, then turns."""
    system = [text_of(each) for each in messages if kind_of(each) == "system"]
    turns = [
        Turn(role="assistant" if kind_of(each) == "ai" else "user", text=text_of(each))
        for each in messages
        if kind_of(each) != "system"
    ]
    return ModelRequest(system="\n\n".join(system), turns=tuple(turns))


class MemoryModel:
    """The model of a memory, opened at its first call; *argument* names it in errors."""

    def __init__(self, llm: object, argument: str = "llm") -> None:
        self.llm = llm
        self.argument = argument

    @cached_property
    def model(self) -> Model:
        """
        The model port of *llm*.

        Raises:
            UsageError: *llm* is not a model.
        """
        if self.llm is None:
            raise UsageError(f"this needs a model: give one as {self.argument!r}")
        return open_model(_completing(self.llm) or self.llm)

    async def ask(self, prompt: PromptChoice, **variables: str) -> str:
        """
        Return the model's answer to *prompt*, by one call.

        Raises:
            ModelError: The model failed or refused, or its answer was cut off.
        """
        answer = await answer_of(self.model, request_of(prompt, **variables))
        if answer.stopped != "end":
            why = "refused" if answer.stopped == "refusal" else "was cut short"
            raise ModelError(f"{self.model.identity} {why}: its answer is discarded; try again")
        return answer.text


def _completing(llm: object) -> Callable[[ModelRequest], Awaitable[str]] | None:
    """Return a LangChain text-completion model as a callable; ``None`` for any other model."""
    ainvoke = getattr(llm, "ainvoke", None)
    # Both kinds of LangChain model have `generate_prompt`; only chat models have `bind_tools`.
    if ainvoke is None or not hasattr(llm, "generate_prompt") or hasattr(llm, "bind_tools"):
        return None

    async def complete(request: ModelRequest) -> str:
        parts = [request.system, *(turn.text for turn in request.turns)]
        return str(await ainvoke("\n\n".join(part for part in parts if part)))

    return complete
