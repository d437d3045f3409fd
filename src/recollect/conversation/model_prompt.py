"""A prompt whose variables are known, and one call of a model with them filled in."""

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
    """A prompt template of LangChain's, of text or of messages."""

    @property
    def input_variables(self) -> list[str]:
        """The variables that it asks for."""
        ...

    def format_prompt(self, **variables: str) -> Any:
        """Return the prompt with its variables filled in."""
        ...


PromptChoice: TypeAlias = str | ForeignPrompt
"""A text of ours with ``{name}`` places (a brace that means itself is doubled), or LangChain's."""

_PLACE: Final = re.compile(r"\{\{|\}\}|\{([^{}]*)\}|[{}]")


def places_in(text: str) -> list[str]:
    """
    Return the variables that *text* has places for, sorted.

    >>> places_in("{new} after {old}; {{}} is a brace, {old} again")
    ['new', 'old']

    Raises:
        UsageError: It has a brace alone, or a place that holds no plain name.
    """
    named: set[str] = set()
    for found in _PLACE.finditer(text):
        if found[0] in {"{{", "}}"}:
            continue
        if not (found[1] or "").isidentifier():
            msg = (
                f"the prompt has {found[0]!r}, which is no place: double a brace that means itself"
            )
            raise UsageError(msg)
        named.add(found[1])
    return sorted(named)


def variables_of(prompt: PromptChoice) -> list[str]:
    """
    Return the variables of *prompt*.

    Raises:
        UsageError: It is no prompt, or its text cannot be read.
    """
    if isinstance(prompt, str):
        return places_in(prompt)
    if isinstance(prompt, ForeignPrompt):
        return list(prompt.input_variables)
    msg = f"{prompt!r} is no prompt: give text with {{name}} places, or a prompt template"
    raise UsageError(msg)


def checked_exactly(prompt: PromptChoice, expected: Iterable[str]) -> PromptChoice:
    """
    Return *prompt* if its variables are just the *expected* ones.

    Raises:
        UsageError: They are not.
    """
    named = variables_of(prompt)
    if set(named) != set(expected):
        msg = (
            f"Got unexpected prompt input variables. The prompt expects {named}, "
            f"but it should have {sorted(expected)}."
        )
        raise UsageError(msg)
    return prompt


def checked(prompt: PromptChoice, known: Iterable[str]) -> PromptChoice:
    """
    Return *prompt* if all its variables are *known*.

    Raises:
        UsageError: One is not: it would have no value.
    """
    if unknown := set(variables_of(prompt)) - set(known):
        msg = (
            f"the prompt asks for {', '.join(sorted(unknown))}, which this memory does not have; "
            f"it has {', '.join(sorted(known))}"
        )
        raise UsageError(msg)
    return prompt


def request_of(prompt: PromptChoice, **variables: str) -> ModelRequest:
    """Return the request that *prompt* is with its variables filled in."""
    if isinstance(prompt, str):
        return ModelRequest(system="", turns=(Turn(role="user", text=filled(prompt, **variables)),))
    asked = {name: variables[name] for name in prompt.input_variables}
    return request_with(coerced_all(prompt.format_prompt(**asked)))


def request_with(messages: Sequence[AnyMessage]) -> ModelRequest:
    """Return a request of *messages*: system messages before all, the model's own as its turns."""
    system = [text_of(each) for each in messages if kind_of(each) == "system"]
    turns = [
        Turn(role="assistant" if kind_of(each) == "ai" else "user", text=text_of(each))
        for each in messages
        if kind_of(each) != "system"
    ]
    return ModelRequest(system="\n\n".join(system), turns=tuple(turns))


class MemoryModel:
    """The model of a memory, given as *argument*, opened when it is first asked."""

    def __init__(self, llm: object, argument: str = "llm") -> None:
        self.llm = llm
        self.argument = argument

    @cached_property
    def model(self) -> Model:
        """
        Return *llm* as a model.

        Raises:
            UsageError: It is none.
        """
        if self.llm is None:
            msg = f"this asks a model: give it one as {self.argument!r}"
            raise UsageError(msg)
        return open_model(_completing(self.llm) or self.llm)

    async def asked(self, prompt: PromptChoice, **variables: str) -> str:
        """
        Return the model's answer to *prompt*: one call.

        Raises:
            ModelError: The model failed, refused, or its answer was cut off.
        """
        answer = await answer_of(self.model, request_of(prompt, **variables))
        if answer.stopped != "end":
            why = "refused" if answer.stopped == "refusal" else "was cut short"
            msg = f"{self.model.identity} {why}: nothing of its answer was kept; ask it again"
            raise ModelError(msg)
        return answer.text


def _completing(llm: object) -> Callable[[ModelRequest], Awaitable[str]] | None:
    """Return LangChain's text-completion model as a callable; ``None`` if it is no such model."""
    ainvoke = getattr(llm, "ainvoke", None)
    if ainvoke is None or not hasattr(llm, "generate_prompt") or hasattr(llm, "bind_tools"):
        return None

    async def complete(request: ModelRequest) -> str:
        parts = [request.system, *(turn.text for turn in request.turns)]
        return str(await ainvoke("\n\n".join(part for part in parts if part)))

    return complete
