"""Conversation memory that puts facts about the mentioned names into the prompt."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, Unpack

from anyio import to_thread

from recollect.conversation import prompts
from recollect.conversation.base import (
    ChatMemory,
    Conversation,
    Values,
    Variables,
    options_of,
    warn_ignored,
)
from recollect.conversation.buffer_window import MESSAGES_PER_TURN
from recollect.conversation.catch_up import ReadingMemory
from recollect.conversation.document_sources import sources_in
from recollect.conversation.fact_extraction import Statement, facts_of, statements_in
from recollect.conversation.fact_graph import AnyGraph, KeptFacts, check_graph
from recollect.conversation.model_prompt import MemoryModel, PromptChoice, checked, variables_of
from recollect.conversation.prompt_parts import PromptPart, as_messages, as_text
from recollect.conversation.thread_history import Placed
from recollect.errors import UsageError
from recollect.graph.entity_graph import EntityGraph
from recollect.graph.knowledge import KnowledgeGraph
from recollect.graph.name_equality import name_key
from recollect.graph.triples import KnowledgeTriple, get_entities, parse_triples
from recollect.memory.facade import Recollect
from recollect.messages import AnyMessage, kind_of, message_classes
from recollect.records import ScopeLike
from recollect.sync.method_pairs import method_pair
from recollect.sync.object_home import AnyRecollect

_ENTITY_VARIABLES: Final = ("history", "input")
_FACT_VARIABLES: Final = ("facts", "history", "input")
_SIDES: Final = frozenset({"human", "ai"})


class KnowledgeOptions(Conversation, total=False):
    """Options of `ConversationKGMemory`: the thread, the prompts, and the format of facts."""

    human_prefix: str
    ai_prefix: str
    memory_key: str
    knowledge_extraction_prompt: PromptChoice
    entity_extraction_prompt: PromptChoice
    summary_message_cls: Callable[..., AnyMessage] | None


class ConversationKGMemory(ReadingMemory):
    """
    Puts the facts about the names in the new message into the prompt.

    A load asks the model for the names, a save for the facts in both messages of the turn. A new
    object of a predicate ends the old one, unless there can be several; a denied fact ends. The
    assistant's statements have lower trust than the user's and never end those. Each fact has its
    time, and cites the message that states it. Facts are shown that have a name as subject or
    object, up to *depth* steps away; those about the user always.

    Facts are stored in *kg*: by default the `KnowledgeGraph` of the conversation's scope, shared by
    its threads. `clear` removes the facts stated only in this thread; with a given *kg*, or an
    in-process conversation, it removes all facts.

    With *every_turns* above 1 a load calls no model (it shows the known names that the last turns
    mention), and one call reads that many turns. Unread messages, also those of a failed call, are
    shown after the facts. `flush` reads them.

    *strict_original* reproduces LangChain's memory, over an in-process graph unless one is given:
    only facts that the user states, names compared exactly, no fact ended, no turn read later.
    """

    policy = "facts"

    def __init__(
        self,
        memory: AnyRecollect | None = None,
        scope: ScopeLike | None = None,
        thread: str | None = None,
        *,
        llm: object,
        k: int = 2,
        kg: AnyGraph | None = None,
        depth: int = 1,
        every_turns: int = 1,
        strict_original: bool = False,
        **options: Unpack[KnowledgeOptions],
    ) -> None:
        """
        Use a conversation and a model.

        Raises:
            UsageError: A prompt uses an unknown variable, *every_turns* is below 1, *kg* uses a
                memory that the conversation cannot reach, or *strict_original* is combined with
                options that LangChain's memory lacks.
        """
        if strict_original and (every_turns, depth) != (1, 1):
            raise UsageError(
                f"every_turns={every_turns}, depth={depth}: the original has neither; omit them, "
                "or omit strict_original"
            )
        warn_ignored(self, options.keys() - KnowledgeOptions.__annotations__.keys())
        conversation = options_of(Conversation, options)
        super().__init__(memory, scope, thread, every_turns=every_turns, **conversation)
        self.human_prefix = options.get("human_prefix", "Human")
        self.ai_prefix = options.get("ai_prefix", "AI")
        self.memory_key = options.get("memory_key", "history")
        self.k = k
        self.depth = depth
        self.strict_original = strict_original
        usual = prompts.TRIPLES if strict_original else prompts.FACTS
        self.knowledge_extraction_prompt = checked(
            options.get("knowledge_extraction_prompt", usual),
            _ENTITY_VARIABLES if strict_original else _FACT_VARIABLES,
        )
        self.entity_extraction_prompt = checked(
            options.get("entity_extraction_prompt", prompts.ENTITIES), _ENTITY_VARIABLES
        )
        self.summary_message_cls = options.get("summary_message_cls") or message_classes().system
        self.kg: AnyGraph = self._own_graph() if kg is None else kg
        check_graph(self.kg, self.home.memory)
        self._shared = (
            self.kg if kg is None and not (strict_original or self._own.is_private) else None
        )
        self._asking = MemoryModel(llm)

    def _own_graph(self) -> EntityGraph:
        if self.strict_original:
            return EntityGraph(strict_original=True)
        return EntityGraph(KnowledgeGraph(self.home.memory, self.scope))

    @property
    def llm(self) -> object:
        """The model that was given."""
        return self._asking.llm

    @property
    def memory_variables(self) -> list[str]:
        """The one variable, ``[memory_key]``."""
        return [self.memory_key]

    async def _get_current_entities(self, memory: Recollect, input_string: str) -> list[str]:
        """
        Return the names in *input_string*, read after the last turns, by one model call.

        Raises:
            ModelError: The model failed.
        """
        return await self.names_in(memory, input_string)

    async def _get_knowledge_triplets(
        self, memory: Recollect, input_string: str
    ) -> list[KnowledgeTriple]:
        """
        Return the facts that *input_string* states after the last turns, by one model call.

        Nothing is stored, and denied facts are omitted.

        Raises:
            ModelError: The model failed.
        """
        return await self.triples_in(memory, input_string)

    get_current_entities, aget_current_entities = method_pair(_get_current_entities)
    get_knowledge_triplets, aget_knowledge_triplets = method_pair(_get_knowledge_triplets)

    async def names_in(self, memory: Recollect, said: str) -> list[str]:
        """Return the names in the message *said*, by one model call."""
        lines = self.lines(await self.recent(memory))
        answer = await self._asking.ask(self.entity_extraction_prompt, history=lines, input=said)
        return get_entities(answer, strict_original=self.strict_original)

    async def triples_in(self, memory: Recollect, said: str) -> list[KnowledgeTriple]:
        """Return the facts stated in the user's message *said*, by one model call."""
        lines = self.lines(await self.recent(memory))
        if self.strict_original:
            answer = await self._asking.ask(
                self.knowledge_extraction_prompt, history=lines, input=said
            )
            return parse_triples(answer, strict_original=True)
        stated = await self._stated(memory, lines, f"{self.human_prefix}: {said}")
        return list(dict.fromkeys(each.triple for each in stated if not each.is_denied))

    async def load(self, memory: Recollect, inputs: Values) -> Variables:
        """
        Return the facts about the names in the new message, and the unread messages.

        Raises:
            ModelError: The model failed.
        """
        texts, unread = await self._found(memory, self.asked_in(inputs))
        if self.return_messages:
            return {self.memory_key: [*map(self._message_of, texts), *unread]}
        return {self.memory_key: as_text([texts, [self.lines(unread)] if unread else []])}

    async def parts(self, memory: Recollect, inputs: Values) -> dict[str, PromptPart]:
        """Return an entry per name, last name dropped first, then one per unread message."""
        texts, unread = await self._found(memory, self.asked_in(inputs))
        known = [[self._message_of(each)] for each in texts[::-1]]
        count = len(unread)

        def render(left: Sequence[Sequence[Any]]) -> Any:
            said = list(left[-count:]) if count else []
            shown = [*list(left[: len(left) - len(said)])[::-1], *said]
            if self.return_messages:
                return as_messages(shown)
            texts = [str(message.content) for (message,) in shown[: len(shown) - len(said)]]
            return as_text([texts, [self.lines(as_messages(said))] if said else []])

        return {self.memory_key: PromptPart([*known, *([each] for each in unread)], render)}

    async def save(self, memory: Recollect, inputs: Values, outputs: Values) -> None:
        """
        Append both messages of a turn, then read the unread turns if enough have come.

        Raises:
            ModelError: The model failed; the turn is saved, and stays unread.
        """
        if not self.strict_original:
            await super().save(memory, inputs, outputs)
            return
        await ChatMemory.save(self, memory, inputs, outputs)
        triples = await self.triples_in(memory, self.asked_in(inputs))
        await self._kept.add_triples(triples)

    async def finish(self, memory: Recollect) -> None:
        """Read all unread turns; with *strict_original* there are none."""
        if not self.strict_original:
            await super().finish(memory)

    async def learn(self, memory: Recollect, piece: Sequence[Placed], *, is_saved: bool) -> None:
        """Add and end the facts that *piece* states, by one model call."""
        said = [each for each in piece if kind_of(each.message) in _SIDES]
        facts = []
        if said:
            near = await self._before(memory, piece[0].position)
            before = self.lines([each.message for each in near])
            lines = self.lines([each.message for each in said])
            stated = await self._stated(memory, before, lines)
            known = await self._kept.known(memory, f"{before}\n{lines}")
            besides = [*sources_in(self.thread, [*near, *said]), *known]
            # Matching names in texts takes regular expressions: keep it off the event loop.
            facts = await to_thread.run_sync(facts_of, stated, said, self.thread, besides)
        await self._kept.take(memory, facts, self.scope, self._progress.write(piece))

    async def remove(self, memory: Recollect) -> None:
        """Remove all messages and facts; from a shared graph only the facts of this thread."""
        if self.kg is self._shared:
            await self._kept.forget_thread(memory, self.thread)
        else:
            await self._kept.clear()
        await super().remove(memory)

    @property
    def _kept(self) -> KeptFacts:
        return KeptFacts(self.kg, self.home)

    async def _found(self, memory: Recollect, said: str) -> tuple[list[str], list[AnyMessage]]:
        """Return the facts about names in *said*, one text per name, and the unread messages."""
        if self.strict_original:
            names = await self.names_in(memory, said)
            known = {name: await self._kept.sentences(name) for name in names}
            return [_text_of(name, known[name]) for name in names if known[name]], []
        if self.every_turns == 1:
            names = await self.names_in(memory, said)
        else:
            lines = self.lines(await self.recent(memory))
            names = await self._kept.mentioned(memory, f"{lines}\n{said}")
        # Facts about the user have the transcript's prefix as their name.
        speaker = [self.human_prefix] if name_key(self.human_prefix) else []
        once = {name_key(each): each for each in (*speaker, *names)}
        about = await self._kept.about(memory, list(once.values()), self.depth)
        is_begun = self.every_turns > 1 or await self._progress.until(memory) is not None
        unread = await self.waiting(memory) if is_begun else []
        texts = [_text_of(name, known) for name, known in about.items() if known]
        return texts, [each.message for each in unread]

    async def _stated(self, memory: Recollect, before: str, said: str) -> list[Statement]:
        variables = {"history": before, "input": said}
        if "facts" in variables_of(self.knowledge_extraction_prompt):
            variables["facts"] = await self._kept.written(memory, f"{before}\n{said}")
        answer = await self._asking.ask(self.knowledge_extraction_prompt, **variables)
        return statements_in(answer)

    async def recent(self, memory: Recollect) -> list[AnyMessage]:
        """Return the messages of the last *k* turns, as LangChain does if *strict_original*."""
        if self.strict_original:
            return (await self.talk.all(memory))[-self.k * MESSAGES_PER_TURN :]
        return await super().recent(memory)

    async def _before(self, memory: Recollect, position: int) -> list[Placed]:
        """Return the messages of the last *k* turns before *position*."""
        count = min(max(0, self.k) * MESSAGES_PER_TURN, position - 1)
        if not count:
            return []
        near = await self.talk.after(memory, position - 1 - count, limit=count)
        return [each for each in near if each.position < position]

    def _message_of(self, text: str) -> AnyMessage:
        return self.summary_message_cls(content=text)


def _text_of(name: str, known: Sequence[str]) -> str:
    return f"On {name}: {'. '.join(known)}."
