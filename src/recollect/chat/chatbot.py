"""`Chatbot`: a conversation with one user, stored in a memory and answered from it."""

from __future__ import annotations

import math
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from datetime import timedelta
from typing import Final

from anyio import CancelScope

from recollect.chat.answer_sources import USED, name_digest, references_of
from recollect.chat.chat_prompt import NOTHING_KNOWN, filled, newest_within, turns_of
from recollect.chat.corrections import correction_of
from recollect.errors import GoneError, NotFoundError, StaleReadError, UsageError
from recollect.formation.config import FormationSettings
from recollect.formation.rule_model import RuleModel
from recollect.memory.cited_messages import apply_cited
from recollect.memory.erasure_guard import guarded
from recollect.memory.facade import Recollect
from recollect.models import ModelChoice, open_model
from recollect.ports import Model, ModelRequest, TokenCounter
from recollect.recall.context import Context
from recollect.records import Evidence, Json, JsonObject, Memory, Message, NewMessage, ScopeLike
from recollect.stores.plans.due_times import Debounce
from recollect.stores.validation import check_scope, readable, to_datetime
from recollect.text.rule_replies import PAGE_NOTES, Language
from recollect.text.token_estimate import estimated_tokens

MEMORY_TOKENS: Final = 1_000
"""Default token budget of the remembered context in a prompt."""
HISTORY_TOKENS: Final = 4_000
HISTORY_MESSAGES: Final = 40
ANSWERS: Final = "answers"
"""The answer's metadata with the digest of the id of the message that it answers."""
ANSWER_MESSAGES: Final = 100
"""Messages after a message among which its answer is looked for."""
_TALK_PAUSE: Final = timedelta(hours=1)


class ChatAnswer:
    """
    An answer that is being streamed: iterate over *pieces*.

    *known* is the context that the model was given, *request* the whole prompt including it.
    *text* is what was streamed so far, *kept* the stored message, once the answer has ended;
    ``None`` if nothing was said, or something was erased in the scope meanwhile.
    """

    def __init__(self, known: Context, request: ModelRequest, stream: AsyncIterator[str]) -> None:
        self.known = known
        self.request = request
        self.kept: Message | None = None
        self.is_whole = False
        self._stream = stream
        self._streamed: list[str] = []
        self.pieces = self._pieces()

    @property
    def text(self) -> str:
        """The text streamed so far."""
        return "".join(self._streamed)

    async def _pieces(self) -> AsyncGenerator[str, None]:
        async for piece in self._stream:
            text = readable(piece)
            self._streamed.append(text)
            yield text
        self.is_whole = True

    async def aclose(self) -> None:
        """Stop the model."""
        await self.pieces.aclose()
        if isinstance(self._stream, AsyncGenerator):
            await self._stream.aclose()


class Chatbot:
    """
    A conversation with the user of a scope, over an open memory.

    `hear` stores the user's message, `answering` answers it and stores the answer. The prompt of
    each message has its context (`Recollect.context`), from messages and memories of all threads of
    the scope. Without a *model* it only stores messages and returns the context of a prompt.

    Args:
        memory: An open memory of `recollect.open`; its worker, if any, forms memories when the
            conversation pauses.
        model: The answering model, as `recollect.open` takes it: ``"provider/model"``,
            ``"rules"``, a LangChain chat model, a `Model`, or a function; ``None`` for none.
        scope: The user's scope.
        thread: The thread to continue; a new one by default.
        formation: The chatbot's prompt, and the memory types.
        settings: Formation settings of the thread, see `Recollect.append`.
        budget_tokens: Most tokens of the context in a prompt, by *count_tokens*.
        language: The language in which the user reads the chat, if known: words that both scripts
            of Chinese share are answered in its script.

    Raises:
        UsageError: The memory is no `Recollect`, the model is none, or the budget is below 1.
    """

    def __init__(
        self,
        memory: Recollect,
        model: ModelChoice | None,
        scope: ScopeLike,
        *,
        thread: str | None = None,
        formation: FormationSettings | None = None,
        settings: JsonObject | None = None,
        budget_tokens: int = MEMORY_TOKENS,
        count_tokens: TokenCounter = estimated_tokens,
        language: Language | None = None,
    ) -> None:
        if not isinstance(memory, Recollect):
            raise UsageError(
                f"a chatbot is awaited and needs a memory of recollect.open, not {memory!r}: open "
                "it with 'async with recollect.open(...)'"
            )
        if budget_tokens < 1:
            raise UsageError(f"a budget of {budget_tokens} tokens holds nothing: give at least 1")
        self.memory = memory
        self.scope = check_scope(scope)
        self.thread = thread or memory.store.new_name()
        self._model: Model | None = open_model(model)
        self._formation = formation or FormationSettings()
        self._settings = settings
        self._budget_tokens = budget_tokens
        self._count = count_tokens
        self._page_note = PAGE_NOTES[language or "en"]

    @property
    def model(self) -> str | None:
        """Identity of the model, ``None`` without one."""
        return self._model.identity if self._model else None

    def new_thread(self) -> str:
        """Continue in a new thread, and return its id; its first message creates it."""
        self.thread = self.memory.store.new_name()
        return self.thread

    async def hear(self, text: str, *, idempotency_key: str | None = None) -> Message:
        """
        Store the user's message durably; the same *idempotency_key* stores it once.

        Raises:
            GoneError: It was stored under the key before, and has been erased or removed since.
        """
        message = NewMessage(role="user", text=text)
        return await self._keep(self.thread, message, idempotency_key=idempotency_key)

    async def answer_to(self, message: Message) -> Message | None:
        """Return the stored answer to *message*, ``None`` if there is none."""
        page = await self.memory.messages(
            self.scope, message.thread, after=message.position, limit=ANSWER_MESSAGES
        )
        answers = [each for each in page.rows if each.role == "assistant"]
        # Several messages of a thread may be answered at once: the next answer may be another's.
        named = name_digest(message.id)
        marked = next((each for each in answers if each.metadata.get(ANSWERS) == named), None)
        follows = answers and answers[0] == page.rows[0] and ANSWERS not in answers[0].metadata
        return marked or (answers[0] if follows else None)

    async def known(self, message: Message) -> Context:
        """Return the context of the prompt that answers *message*."""
        return await self._known(message, await self._conversation(message))

    async def _known(self, message: Message, conversation: Sequence[Message]) -> Context:
        shown = self._shown(conversation)
        return await self.memory.context(
            self.scope,
            message.text,
            thread=message.thread,
            recent=sum(self._is_recent(each, message, shown) for each in conversation),
            budget_tokens=self._budget_tokens,
            profile=[each.name for each in self._formation.types if each.update_mode == "patch"],
            count_tokens=self._count,
        )

    def _is_recent(self, said: Message, message: Message, shown: Sequence[Message]) -> bool:
        """
        Return True if the prompt shows a message, so that the context need not have it.

        Rules do not read an old talk as a model does: they need the memories that came of it.
        """
        is_old = isinstance(self._model, RuleModel) and message.time - said.time > _TALK_PAUSE
        return said.position >= shown[0].position and not is_old

    @asynccontextmanager
    async def answering(self, message: Message, *, once: bool = False) -> AsyncIterator[ChatAnswer]:
        """
        Answer *message*; leaving the block stores the answer, even if interrupted.

        An interrupted answer has the metadata ``{"interrupted": true}``; ``answers`` refers to
        *message*, and ``used`` to what the prompt had of the memory, by digests. With *once*, an
        answer to it that was stored concurrently by another caller is used instead.

        If anything is erased in the scope before the answer has ended, it is not stored: it may
        repeat what was erased.

        Raises:
            UsageError: No model is configured.
            GoneError: *message* was erased or removed.
            ModelError: The model failed; the answer so far is stored.
        """
        if self._model is None:
            raise UsageError("the chatbot cannot answer without a model: give it one")
        # Before anything is read, so that every erase of what the prompt has is noticed.
        guard = await guarded(self.memory, self.scope)
        conversation = await self._stored_conversation(message)
        known = await self._known(message, conversation)
        request = self._request(conversation, known)
        answer = ChatAnswer(known, request, self._model.stream(request))
        try:
            yield answer
        finally:
            # Shielded: a user who interrupts the answer has seen its beginning, so it is stored.
            with CancelScope(shield=True):
                given = await self.answer_to(message) if once else None
                answer.kept = given or await self._keep_answer(guard, message, answer)
            await answer.aclose()

    async def reply(self, text: str) -> str:
        """Store *text*, and return the whole answer, which is stored too."""
        async with self.answering(await self.hear(text)) as answer:
            async for _ in answer.pieces:
                continue
        return answer.text

    async def correct(
        self, type_: str, key: str, pointer: str, value: Json, *, said: str
    ) -> Memory:
        """
        Replace the value at *pointer* of a memory, because the user *said* so.

        The user's words are stored in the thread, without scheduling formation, as evidence of the
        new value. See `correction_of`.

        Raises:
            NotFoundError: The memory or the place in it does not exist.
            UsageError: The result would not fit its type's schema; or the words that it rests on
                were erased meanwhile.
        """
        memory = await self.memory.get(self.scope, type_, key)
        if memory is None:
            raise NotFoundError(f"there is no memory {type_}/{key}")
        types = self._formation.types
        # A dry run: an invalid correction must not leave the user's words in the thread.
        draft = Evidence(thread=self.thread, message="draft")
        correction_of(memory, pointer, value, because=draft, types=types)
        message = await self._keep(
            self.thread, NewMessage(role="user", text=said), debounce=Debounce(quiet_s=math.inf)
        )
        because = Evidence(thread=message.thread, message=message.id, quote=said)
        write = correction_of(memory, pointer, value, because=because, types=types)
        (corrected,) = await apply_cited(self.memory, self.scope, [write])
        return corrected or memory

    def _request(self, conversation: Sequence[Message], known: Context) -> ModelRequest:
        now = to_datetime(self.memory.store.now())
        values = {
            "time": f"{now:%A %Y-%m-%d %H:%M} UTC",
            "memories": str(known) or NOTHING_KNOWN,
        }
        system = filled(self._formation.prompts.chatbot, values)
        return ModelRequest(
            system=f"{system}\n{self._page_note}" if self._page_note else system,
            turns=turns_of(self._shown(conversation)),
        )

    async def _conversation(self, message: Message) -> tuple[Message, ...]:
        """Return the last messages of the thread up to *message*."""
        before = await self.memory.last_messages(
            self.scope, message.thread, limit=HISTORY_MESSAGES, before=message.position
        )
        return (*before, message)

    async def _stored_conversation(self, message: Message) -> Sequence[Message]:
        """
        Return the last messages of the thread up to *message*.

        Raises:
            GoneError: It is not stored any more.
        """
        found = await self.memory.last_messages(
            self.scope, message.thread, limit=HISTORY_MESSAGES + 1, before=message.position + 1
        )
        if not found or found[-1].id != message.id:
            raise GoneError("the message was erased or removed before it was answered: ask again")
        return found

    def _shown(self, conversation: Sequence[Message]) -> Sequence[Message]:
        """Return the messages that the prompt shows as turns."""
        return newest_within(conversation, budget_tokens=HISTORY_TOKENS, count=self._count)

    async def _keep_answer(
        self, memory: Recollect, message: Message, answer: ChatAnswer
    ) -> Message | None:
        """Store the answer through *memory*, unless something was erased since it was guarded."""
        if not answer.text:
            return None
        used = references_of(answer.known, answer.text, self.scope)
        metadata: JsonObject = {
            ANSWERS: name_digest(message.id),
            **({USED: used} if used else {}),
            **({} if answer.is_whole else {"interrupted": True}),
        }
        said = NewMessage(role="assistant", text=answer.text, metadata=metadata)
        with suppress(StaleReadError):
            return await self._keep(message.thread, said, memory=memory)
        return None

    async def _keep(
        self,
        thread: str,
        message: NewMessage,
        *,
        memory: Recollect | None = None,
        debounce: Debounce | None = None,
        idempotency_key: str | None = None,
    ) -> Message:
        kept = await (memory or self.memory).append(
            self.scope,
            thread,
            [message],
            debounce=debounce,
            settings=self._settings,
            idempotency_key=idempotency_key,
        )
        if not kept:
            msg = "the message with this idempotency key was removed since: use a new key"
            raise GoneError(msg)
        return kept[0]
