"""Conversation memory that puts summaries of the mentioned entities into the prompt."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, TypedDict, Unpack

from anyio import to_thread

from recollect.conversation import prompts
from recollect.conversation.base import Conversation, Values, Variables, options_of, warn_ignored
from recollect.conversation.buffer_window import MESSAGES_PER_TURN
from recollect.conversation.catch_up import ReadingMemory
from recollect.conversation.document_sources import evidence_for, sources_in
from recollect.conversation.entity_names import (
    clean_names,
    folded,
    known_lines,
    listed_names,
    mentioned,
    read_lines,
)
from recollect.conversation.entity_store import (
    BaseEntityStore,
    InMemoryEntityStore,
    KeptEntities,
    KnownEntities,
    Learnt,
    ScopeEntityStore,
)
from recollect.conversation.model_prompt import MemoryModel, PromptChoice, checked
from recollect.conversation.thread_history import Placed
from recollect.errors import UsageError, VersionConflictError
from recollect.memory.facade import Recollect
from recollect.messages import AnyMessage, kind_of, text_of
from recollect.records import Evidence, ScopeLike
from recollect.sync.object_home import AnyRecollect

TRIES_MAX: Final = 5
"""Attempts to store a turn's summaries when other writers come first."""


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


class EntityOptions(Conversation, EntityPrompts, total=False):
    """Options of `ConversationEntityMemory`: the thread, the transcript's format, the prompts."""

    human_prefix: str
    ai_prefix: str
    chat_history_key: str


class ConversationEntityMemory(ReadingMemory):
    """
    Puts the last *k* turns, and summaries of the entities in the new message, into the prompt.

    A load calls the model once for the entities' names, a save once for each entity's summary;
    *entity_cache* holds the names between the two. Summaries are stored in *entity_store*: by
    default the ``Entity`` memories of the conversation's scope, which its threads share, or this
    process if the conversation has no scope.

    With *one_call* a save calls the model once for all entities. With *normalised* names are
    compared without case, listed once, and "none." is not a name. With *every_turns* above 1 a
    load calls no model (it shows the known entities that the last turns mention), and that many
    turns are read together: one call for their names, then as above. `flush` reads the rest.

    If the model fails, the turn is still saved and stays unread: the next save, or `flush`, reads
    it with the later ones.
    """

    policy = "entities"

    def __init__(
        self,
        memory: AnyRecollect | None = None,
        scope: ScopeLike | None = None,
        thread: str | None = None,
        *,
        llm: object,
        k: int = 3,
        entity_store: BaseEntityStore | None = None,
        one_call: bool = False,
        normalised: bool = False,
        every_turns: int = 1,
        **options: Unpack[EntityOptions],
    ) -> None:
        """
        Use a conversation and a model.

        Raises:
            UsageError: A prompt uses an unknown variable, *every_turns* is below 1, or
                *entity_store* uses another memory.
        """
        warn_ignored(self, options.keys() - EntityOptions.__annotations__.keys())
        conversation = options_of(Conversation, options)
        super().__init__(memory, scope, thread, every_turns=every_turns, **conversation)
        self.human_prefix = options.get("human_prefix", "Human")
        self.ai_prefix = options.get("ai_prefix", "AI")
        self.chat_history_key = options.get("chat_history_key", "history")
        self.k = k
        self.entity_cache: list[str] = []
        self.entity_store = self._store_of(entity_store)
        self._reader = EntityReader(
            llm,
            one_call=one_call,
            normalised=normalised,
            chosen=options_of(EntityPrompts, options),
        )

    def _store_of(self, store: BaseEntityStore | None) -> BaseEntityStore:
        if store is None:
            if self._own.is_private:
                return InMemoryEntityStore()
            return ScopeEntityStore(self.home.memory, self.scope)
        if isinstance(store, ScopeEntityStore) and store.home.memory is not self.home.memory:
            msg = "the entity_store and the conversation use different memories: open one for both"
            raise UsageError(msg)
        return store

    @property
    def llm(self) -> object:
        """The model that was given."""
        return self._reader.model.llm

    @property
    def entity_extraction_prompt(self) -> PromptChoice:
        """The prompt that asks for the names in a message."""
        return self._reader.extraction

    @property
    def entity_summarization_prompt(self) -> PromptChoice:
        """The prompt that asks for an entity's summary."""
        return self._reader.summarization

    @property
    def memory_variables(self) -> list[str]:
        """``entities``, the summaries by name, and the variable of the last turns."""
        return ["entities", self.chat_history_key]

    @property
    def buffer(self) -> list[AnyMessage]:
        """All messages."""
        return self.home.call(self.talk.all)

    async def load(self, memory: Recollect, inputs: Values) -> Variables:
        """
        Return the last turns, and the summaries of the entities in the new message.

        Raises:
            ModelError: The model failed; *entity_cache* keeps the names of the message before.
        """
        said, kept = self.asked_in(inputs), KeptEntities(self.entity_store)
        recent = await self.recent(memory)
        lines = self.lines(recent)
        if self.every_turns == 1:
            names = await self._names(memory, lines, said)
        else:
            names = mentioned(await kept.names(memory), f"{lines}\n{said}")
        known = await kept.read(memory, names)
        self.entity_cache = names
        return {
            self.chat_history_key: recent if self.return_messages else lines,
            "entities": dict(known.texts),
        }

    async def remove(self, memory: Recollect) -> None:
        """Remove all messages, and the summaries, unless they are a scope's, shared by threads."""
        self.entity_cache = []
        if not isinstance(self.entity_store, ScopeEntityStore):
            await to_thread.run_sync(self.entity_store.clear)
        await super().remove(memory)

    async def learn(self, memory: Recollect, piece: Sequence[Placed], *, is_saved: bool) -> None:
        """Update the summaries of the entities in *piece*."""
        # The load before this save has already asked for the names in the saved turn.
        asked = self.entity_cache if is_saved and self.every_turns == 1 else None
        around = await self._around(memory, piece)
        history = self.lines([each.message for each in around])
        names = list(asked or ())
        unread = piece if asked is None else piece[:-MESSAGES_PER_TURN]
        if said := _user_text(unread):
            found = await self._names(memory, history, said)
            names = [*found, *(name for name in names if name not in found)]
        kept = KeptEntities(self.entity_store)
        beside, besides = self._progress.write(piece), sources_in(self.thread, around)

        def cite(text: str) -> list[Evidence]:
            return evidence_for(text, self.thread, piece, besides)

        # Each summary extends the one before: if another writer changed it, ask the model again.
        for _ in range(TRIES_MAX):
            known = await kept.read(memory, names)
            texts = await self._reader.texts(
                names, known, history=history, said=_user_text(piece), key=kept.key
            )
            try:
                await kept.write(memory, known, Learnt(texts, self.scope, cite, beside))
            except VersionConflictError:
                continue
            return

    async def _around(self, memory: Recollect, piece: Sequence[Placed]) -> Sequence[Placed]:
        """Return *piece* with the turns before it: *k* in all if it is one turn, else *k* more."""
        if len(piece) <= MESSAGES_PER_TURN:
            return await self.talk.last(memory, max(0, self.k) * MESSAGES_PER_TURN)
        first = piece[0].position - 1 - max(0, self.k) * MESSAGES_PER_TURN
        near = await self.talk.after(memory, max(0, first))
        return [each for each in near if each.position <= piece[-1].position]

    async def _names(self, memory: Recollect, history: str, said: str) -> list[str]:
        """Return the names in the message *said*, in the store's spelling if it has one."""
        names = await self._reader.names(history, said)
        if not self._reader.normalised or isinstance(self.entity_store, ScopeEntityStore):
            return names
        spelt = {folded(name): name for name in await KeptEntities(self.entity_store).names(memory)}
        return [spelt.get(folded(name), name) for name in names]


def _user_text(messages: Sequence[Placed]) -> str:
    """Return the texts of the user messages in *messages*, one per line."""
    return "\n".join(text_of(each.message) for each in messages if kind_of(each.message) == "human")
