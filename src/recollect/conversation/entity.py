"""What is known of the names that the conversation speaks of goes into the prompt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, Final, Unpack, cast

from anyio import to_thread

from recollect.app import Recollect
from recollect.conversation.base import ChatMemory, Conversation, Values
from recollect.conversation.entity_names import folded, mentioned
from recollect.conversation.entity_reading import EntityPrompts, EntityReader
from recollect.conversation.entity_store import (
    BaseEntityStore,
    InMemoryEntityStore,
    KeptEntities,
    Learnt,
    ScopeEntityStore,
)
from recollect.conversation.history import Placed
from recollect.conversation.progress import Progress
from recollect.conversation.sources import said_in
from recollect.conversation.window import MESSAGES_PER_TURN, turns_in
from recollect.errors import UsageError, VersionConflictError
from recollect.home import AnyRecollect
from recollect.messages import AnyMessage, buffer_string, kind_of, text_of
from recollect.records import Scope
from recollect.stores.plans.erase import EraseMessages

TRIES_MAX: Final = 5
"""So often a turn is read again because another writer was first."""
READ_MAX: Final = 50
"""So many messages are read together, when many have waited."""


class EntityOptions(Conversation, EntityPrompts, total=False):
    """Whose messages, how they are written in a prompt, and the texts that ask for names."""

    human_prefix: str
    ai_prefix: str
    chat_history_key: str


class ConversationEntityMemory(ChatMemory):
    """
    Puts the last *k* turns, and what is known of the names in the new line, into the prompt.

    A load asks the model for the names, a save asks once for each of them; *entity_cache* has
    the names between the two. What is known is kept in *entity_store*: the ``Entity`` memories
    of the conversation's scope, which its threads share, or this process where it has none.

    With *one_call* a save asks once for all names. With *normalised* a name is the same in any
    case, comes once, and "none." is no name. With *every_turns* above 1 a load calls no model
    (it shows the known names that the last lines mention), and so many turns are read
    together: one call for their names, then as above. `flush` reads what waits.

    A model that fails leaves the turn kept and nothing learnt of it: the next save, or
    `flush`, reads it with what came after.
    """

    def __init__(
        self,
        memory: AnyRecollect | None = None,
        scope: Scope | None = None,
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
        Take a conversation and a model.

        Raises:
            UsageError: A prompt asks for what it does not get, *every_turns* is below 1, or
                *entity_store* is over another memory.
        """
        super().__init__(memory, scope, thread, **cast("Conversation", _of(Conversation, options)))
        if every_turns < 1:
            msg = f"every_turns={every_turns}: read at least 1 turn at a time"
            raise UsageError(msg)
        self.human_prefix = options.get("human_prefix", "Human")
        self.ai_prefix = options.get("ai_prefix", "AI")
        self.chat_history_key = options.get("chat_history_key", "history")
        self.k = k
        self.every_turns = every_turns
        self.entity_cache: list[str] = []
        self.entity_store = self._store_of(entity_store)
        self._reader = EntityReader(
            llm,
            one_call=one_call,
            normalised=normalised,
            chosen=cast("EntityPrompts", _of(EntityPrompts, options)),
        )
        self._progress = Progress(self.scope, self.thread, "entities")

    def _store_of(self, store: BaseEntityStore | None) -> BaseEntityStore:
        if store is None:
            if self._own.is_private:
                return InMemoryEntityStore()
            return ScopeEntityStore(self.home.memory, self.scope)
        if isinstance(store, ScopeEntityStore) and store.home.memory is not self.home.memory:
            msg = "the entity_store is over another memory than the conversation: open one for both"
            raise UsageError(msg)
        return store

    @property
    def llm(self) -> object:
        """The model, as it was given."""
        return self._reader.asking.llm

    @property
    def memory_variables(self) -> list[str]:
        """The names with what is known of them, and the last turns."""
        return ["entities", self.chat_history_key]

    @property
    def buffer(self) -> list[AnyMessage]:
        """All messages."""
        return self.home.call(self.talk.all)

    async def load(self, memory: Recollect, inputs: Values) -> dict[str, Any]:
        """
        Return the last turns, and what is known of the names in the new line.

        Raises:
            ModelError: The model failed; the names of the line before stay in *entity_cache*.
        """
        said, kept = self.asked_in(inputs), KeptEntities(self.entity_store)
        recent = await self.recent(memory)
        lines = self._lines(recent)
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

    async def recent(self, memory: Recollect) -> list[AnyMessage]:
        """Return the messages of the last *k* turns."""
        return await self.talk.newest(memory, self.k * MESSAGES_PER_TURN) if self.k > 0 else []

    async def save(self, memory: Recollect, inputs: Values, outputs: Values) -> None:
        """
        Append both sides of a turn, and learn of it what is due.

        Raises:
            ModelError: The model failed; the turn is kept, and waits.
        """
        is_first = await self._progress.until(memory) is None
        before = await self.talk.newest(memory, 1) if is_first else []
        await super().save(memory, inputs, outputs)
        if is_first:
            await self._begin(memory, is_begun=bool(before))
        waiting = await self._waiting(memory)
        if turns_in([each.message for each in waiting]) >= self.every_turns:
            await self._read(memory, waiting, self.entity_cache if self.every_turns == 1 else None)

    async def finish(self, memory: Recollect) -> None:
        """Read all turns that wait."""
        await self._read(memory, await self._waiting(memory), None)

    def flush(self) -> None:
        """
        Read all turns that wait.

        Raises:
            ModelError: The model failed; they still wait.
        """
        self.home.call(self.finish)

    async def aflush(self) -> None:
        """Do the same as `flush`."""
        await self.home.visit(self.finish)

    async def remove(self, memory: Recollect) -> None:
        """Remove all messages, and what is known of names; in a scope that threads share not."""
        self.entity_cache = []
        if not isinstance(self.entity_store, ScopeEntityStore):
            await to_thread.run_sync(self.entity_store.clear)
        await self._progress.remove(memory)
        await super().remove(memory)

    async def _begin(self, memory: Recollect, *, is_begun: bool) -> None:
        """
        Note where this memory begins to read, so that a first turn that fails is read later.

        Turn by turn, what was said before is passed over, as the original does.
        """
        waiting = await self.talk.after(memory, 0)
        if is_begun and self.every_turns == 1:
            waiting = waiting[-MESSAGES_PER_TURN:]
        if waiting:
            with suppress(VersionConflictError):  # another writer has begun meanwhile
                await memory.apply(self.scope, [self._progress.begin(waiting[:MESSAGES_PER_TURN])])

    async def _waiting(self, memory: Recollect) -> list[Placed]:
        return await self.talk.after(memory, await self._progress.until(memory) or 0)

    async def _read(
        self, memory: Recollect, waiting: Sequence[Placed], asked: Sequence[str] | None
    ) -> None:
        """Learn of the turns that wait; *asked* are the names in the last, where it was asked."""
        for start in range(0, len(waiting), READ_MAX):
            piece = waiting[start : start + READ_MAX]
            is_last = start + READ_MAX >= len(waiting)
            await self._learn(memory, piece, asked if is_last else None)

    async def _learn(
        self, memory: Recollect, piece: Sequence[Placed], asked: Sequence[str] | None
    ) -> None:
        history = self._lines(await self._around(memory, piece))
        names = list(asked or ())
        unread = piece if asked is None else piece[:-MESSAGES_PER_TURN]
        if said := _said(unread):
            found = await self._names(memory, history, said)
            names = [*found, *(name for name in names if name not in found)]
        kept = KeptEntities(self.entity_store)
        beside, evidence = self._progress.write(piece), said_in(self.thread, piece)
        for _ in range(TRIES_MAX):
            known = await kept.read(memory, names)
            texts = await self._reader.texts(
                names, known, history=history, said=_said(piece), key=kept.key
            )
            try:
                await kept.write(memory, known, Learnt(texts, self.scope, evidence, beside))
            except VersionConflictError:
                continue
            await self._check(memory, piece)
            return

    async def _check(self, memory: Recollect, piece: Sequence[Placed]) -> None:
        """Take back what rests on messages of *piece* that were erased while the model answered."""
        before, count = piece[0].position - 1, len(piece)
        there = {each.id for each in await self.talk.after(memory, before, limit=count)}
        if gone := [each.id for each in piece if each.id and each.id not in there]:
            await memory.erase(self.scope, EraseMessages(thread=self.thread, messages=gone))

    async def _around(self, memory: Recollect, piece: Sequence[Placed]) -> Sequence[AnyMessage]:
        """Return the last *k* turns with the one that is read, or before those that are read."""
        if len(piece) <= MESSAGES_PER_TURN:
            return await self.recent(memory)
        first = piece[0].position - 1 - max(0, self.k) * MESSAGES_PER_TURN
        near = await self.talk.after(memory, max(0, first))
        return [each.message for each in near if each.position <= piece[-1].position]

    async def _names(self, memory: Recollect, history: str, said: str) -> list[str]:
        """Return the names in what was *said*, in the spelling that the store has for them."""
        names = await self._reader.names(history, said)
        if not self._reader.normalised or isinstance(self.entity_store, ScopeEntityStore):
            return names
        spelt = {folded(name): name for name in await KeptEntities(self.entity_store).names(memory)}
        return [spelt.get(folded(name), name) for name in names]

    def _lines(self, messages: Sequence[AnyMessage]) -> str:
        return buffer_string(messages, self.human_prefix, self.ai_prefix)


def _said(messages: Sequence[Placed]) -> str:
    """Return what people say in *messages*, a line each."""
    return "\n".join(text_of(each.message) for each in messages if kind_of(each.message) == "human")


def _of(kind: type, options: Mapping[str, object]) -> dict[str, Any]:
    """Return those of *options* that the keywords *kind* names."""
    return {name: each for name, each in options.items() if name in kind.__annotations__}
