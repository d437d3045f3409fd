"""A deterministic model: it forms profiles and notes from plain sentences by rules, offline."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Final

from recollect.deferred_imports import load_modules
from recollect.ports import ModelAnswer, ModelRequest

_RULES: Final = "recollect.formation.rule_requests"
"""The rules, which are many: imported for the first request, not when a service starts."""


@dataclass(slots=True)
class RuleModel:
    """
    A `Model` whose answers follow from rules, for the built-in types ``User`` and ``Note``.

    *requests* records the requests. It understands the English sentences "My name is …", "Hi, I'm
    …", "I live in …", "I moved to …", "I am … years old", "I work as …", "I like …", "Please keep
    …", "… my … …", and the same in both scripts of Chinese.
    """

    identity: str = "rules/1"
    requests: list[ModelRequest] = field(default_factory=list)

    async def answer(self, request: ModelRequest) -> ModelAnswer:
        """Return calls for the statements in the new messages of *request*, or an empty answer."""
        self.requests.append(request)
        await load_modules(_RULES)
        from recollect.formation.rule_requests import calls_for

        return ModelAnswer(calls=calls_for(request))  # rules use no tokens

    async def stream(self, request: ModelRequest) -> AsyncIterator[str]:
        """Yield, word by word, an answer from the memories in the system prompt."""
        self.requests.append(request)
        await load_modules(_RULES)
        from recollect.formation.rule_requests import words_for

        answer = words_for(request)
        for number, word in enumerate(answer.split(" ")):
            yield word if number == 0 else f" {word}"
