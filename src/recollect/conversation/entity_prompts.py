"""Prompts about the entities in a conversation, and the parsing of answers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypedDict

from recollect.conversation import prompts
from recollect.conversation.entity_names import clean_names, known_lines, listed_names, read_lines
from recollect.conversation.entity_store import KnownEntities
from recollect.conversation.model_prompt import MemoryModel, PromptChoice, checked


class EntityPrompts(TypedDict, total=False):
    """The prompts that ask for names, for one entity's summary, and for several summaries."""

    entity_extraction_prompt: PromptChoice
    entity_summarization_prompt: PromptChoice
    entity_summaries_prompt: PromptChoice


class EntityReader:
    """
    Asks a model for the entities in a text, and for their updated summaries.

    With *one_call* one call updates all summaries, otherwise one call each, in order. With
    *normalised* names are compared without case, and "none." is not a name.
    """

    def __init__(
        self, llm: object, *, one_call: bool, normalised: bool, chosen: EntityPrompts
    ) -> None:
        """
        Use a model and the *chosen* prompts, with defaults for the others.

        Raises:
            UsageError: A prompt uses an unknown variable.
        """
        self.extraction = checked(
            chosen.get("entity_extraction_prompt", prompts.ENTITIES), ("history", "input")
        )
        self.summarization = checked(
            chosen.get("entity_summarization_prompt", prompts.ENTITY_SUMMARY),
            ("entity", "summary", "history", "input"),
        )
        self.summaries = checked(
            chosen.get("entity_summaries_prompt", prompts.ENTITY_SUMMARIES),
            ("entities", "history", "input"),
        )
        self.one_call = one_call
        self.normalised = normalised
        self.model = MemoryModel(llm)

    async def names(self, history: str, said: str) -> list[str]:
        """Return the names in the message *said*, by one model call."""
        answer = await self.model.ask(self.extraction, history=history, input=said)
        return clean_names(answer) if self.normalised else listed_names(answer)

    async def texts(
        self,
        names: Sequence[str],
        known: KnownEntities,
        *,
        history: str,
        said: str,
        key: Callable[[str], str],
    ) -> dict[str, str]:
        """
        Return the summaries of *names* by name, updated by the message *said*.

        A name with an empty answer is omitted, so that its stored summary stays.

        Args:
            key: Normalises a name, so that two spellings of one entity share a summary.
        """
        if self.one_call:
            return await self._at_once(known, history=history, said=said) if names else {}
        found: dict[str, tuple[str, str]] = {}
        for name in names:
            before = found[key(name)][1] if key(name) in found else known.texts.get(name, "")
            answer = await self.model.ask(
                self.summarization, entity=name, summary=before, history=history, input=said
            )
            if answer.strip():
                first = found[key(name)][0] if key(name) in found else name
                found[key(name)] = first, answer.strip()
        return dict(found.values())

    async def _at_once(self, known: KnownEntities, *, history: str, said: str) -> dict[str, str]:
        answer = await self.model.ask(
            self.summaries, entities=known_lines(known.texts), history=history, input=said
        )
        return read_lines(answer, known.texts)
