"""`Chatbot`: one talk with a user, kept word by word and answered with what is remembered."""

from __future__ import annotations

import math
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Final

from anyio import CancelScope

from recollect.chat.chat_prompt import NOTHING_KNOWN, filled, newest_within, turns_of
from recollect.chat.corrections import correction_of
from recollect.errors import GoneError, NotFoundError, UsageError
from recollect.formation.config import FormationSettings
from recollect.memory.facade import Recollect
from recollect.ports import Model, ModelRequest, TokenCounter
from recollect.recall.context import Context
from recollect.records import (
    Evidence,
    Json,
    JsonObject,
    Memory,
    Message,
    NewMessage,
    ScopeLike,
)
from recollect.stores.plans.due_times import Debounce
from recollect.stores.validation import check_scope, readable, to_datetime
from recollect.text.token_estimate import estimated_tokens

MEMORY_TOKENS: Final = 1_000
"""How much of what is remembered goes into a prompt, unless it is said."""
HISTORY_TOKENS: Final = 4_000
HISTORY_MESSAGES: Final = 40


class ChatAnswer:
    """
    An answer that is being given: read *pieces*; *known* is what the model was shown.

    *request* is the whole prompt, which has *known* in it.
    *text* is what was streamed so far, *kept* the message that keeps it, once it has ended.
    """

    def __init__(self, known: Context, request: ModelRequest, stream: AsyncIterator[str]) -> None:
        self.known = known
        self.request = request
        self.kept: Message | None = None
        self.is_whole = False
        self._stream = stream
        self._said: list[str] = []
        self.pieces = self._pieces()

    @property
    def text(self) -> str:
        """Return all that was streamed so far."""
        return "".join(self._said)

    async def _pieces(self) -> AsyncGenerator[str, None]:
        async for piece in self._stream:
            told = readable(piece)
            self._said.append(told)
            yield told
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
    the scope. Without a *model* it only stores, and finds what a prompt would be told.

    Args:
        memory: An open memory; its worker, if any, forms memories when the conversation pauses.
        model: The answering model; ``None`` for none.
        scope: The user's scope.
        thread: The thread to continue; a new one by default.
        formation: The chatbot's prompt, and the memory types.
        settings: Formation settings of the thread, see `Recollect.append`.
        budget_tokens: Most tokens of the context in a prompt, by *count_tokens*.
    """

    def __init__(
        self,
        memory: Recollect,
        model: Model | None,
        scope: ScopeLike,
        *,
        thread: str | None = None,
        formation: FormationSettings | None = None,
        settings: JsonObject | None = None,
        budget_tokens: int = MEMORY_TOKENS,
        count_tokens: TokenCounter = estimated_tokens,
    ) -> None:
        if budget_tokens < 1:
            msg = f"a budget of {budget_tokens} tokens holds nothing: give at least 1"
            raise UsageError(msg)
        self.memory = memory
        self.scope = check_scope(scope)
        self.thread = thread or memory.store.new_name()
        self._model = model
        self._formation = formation or FormationSettings()
        self._settings = settings
        self._budget_tokens = budget_tokens
        self._count = count_tokens

    @property
    def model(self) -> str | None:
        """Identity of the model, ``None`` without one."""
        return self._model.identity if self._model else None

    def new_thread(self) -> str:
        """Begin another thread, and return its id; it exists with its first message."""
        self.thread = self.memory.store.new_name()
        return self.thread

    async def hear(self, text: str, *, idempotency_key: str | None = None) -> Message:
        """
        Keep what the user says; when this returns it is on disk, once under each key.

        Raises:
            GoneError: It was kept under the key before, and was erased or removed since.
        """
        said = NewMessage(role="user", text=text)
        return await self._keep(self.thread, said, idempotency_key=idempotency_key)

    async def answer_to(self, message: Message) -> Message | None:
        """Return the answer that was kept right after *message*, ``None`` if there is none."""
        page = await self.memory.messages(
            self.scope, message.thread, after=message.position, limit=1
        )
        return next((each for each in page.rows if each.role == "assistant"), None)

    async def known(self, message: Message) -> Context:
        """Return what a prompt is told beside *message* and the talk that it shows before it."""
        return await self._known(message, await self._talk(message))

    async def _known(self, message: Message, talk: Sequence[Message]) -> Context:
        shown = self._shown(talk)
        return await self.memory.context(
            self.scope,
            message.text,
            thread=message.thread,
            recent=sum(each.position >= shown[0].position for each in talk),
            budget_tokens=self._budget_tokens,
            profile=[each.name for each in self._formation.types if each.update_mode == "patch"],
            count_tokens=self._count,
        )

    @asynccontextmanager
    async def answering(self, message: Message, *, once: bool = False) -> AsyncIterator[ChatAnswer]:
        """
        Answer *message*; leaving the block stores the answer, even if interrupted.

        An interrupted answer has the metadata ``{"interrupted": true}``. With *once*, an answer
        stored concurrently by another caller is used instead.

        Raises:
            UsageError: No model is configured.
            ModelError: The model failed; the answer so far is stored.
        """
        if self._model is None:
            msg = "there is no answer: the chatbot has no model"
            raise UsageError(msg)
        talk = await self._talk(message)
        known = await self._known(message, talk)
        request = self._request(talk, known)
        answer = ChatAnswer(known, request, self._model.stream(request))
        try:
            yield answer
        finally:
            with CancelScope(shield=True):
                given = await self.answer_to(message) if once else None
                answer.kept = given or await self._keep_answer(message.thread, answer)
            await answer.aclose()

    async def reply(self, text: str) -> str:
        """Hear *text*, and return the whole answer to it; both are kept."""
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
            UsageError: The result would not fit its type's schema.
        """
        memory = await self.memory.get(self.scope, type_, key)
        if memory is None:
            msg = f"there is no memory {type_}/{key}"
            raise NotFoundError(msg)
        types = self._formation.types
        draft = Evidence(thread=self.thread, message="draft")
        correction_of(memory, pointer, value, because=draft, types=types)
        message = await self._keep(
            self.thread, NewMessage(role="user", text=said), debounce=Debounce(quiet_s=math.inf)
        )
        because = Evidence(thread=message.thread, message=message.id, quote=said)
        write = correction_of(memory, pointer, value, because=because, types=types)
        (corrected,) = await self.memory.apply(self.scope, [write])
        return corrected or memory

    def _request(self, talk: Sequence[Message], known: Context) -> ModelRequest:
        now = to_datetime(self.memory.store.now())
        values = {
            "time": f"{now:%A %Y-%m-%d %H:%M} UTC",
            "memories": str(known) or NOTHING_KNOWN,
        }
        return ModelRequest(
            system=filled(self._formation.prompts.chatbot, values),
            turns=turns_of(self._shown(talk)),
        )

    async def _talk(self, message: Message) -> tuple[Message, ...]:
        """Return *message* behind those before it."""
        before = await self.memory.last_messages(
            self.scope, message.thread, limit=HISTORY_MESSAGES, before=message.position
        )
        return (*before, message)

    def _shown(self, talk: Sequence[Message]) -> Sequence[Message]:
        """Return the messages of *talk* that a prompt shows as turns."""
        return newest_within(talk, budget_tokens=HISTORY_TOKENS, count=self._count)

    async def _keep_answer(self, thread: str, answer: ChatAnswer) -> Message | None:
        if not answer.text:
            return None
        metadata: JsonObject = {} if answer.is_whole else {"interrupted": True}
        said = NewMessage(role="assistant", text=answer.text, metadata=metadata)
        return await self._keep(thread, said)

    async def _keep(
        self,
        thread: str,
        message: NewMessage,
        *,
        debounce: Debounce | None = None,
        idempotency_key: str | None = None,
    ) -> Message:
        kept = await self.memory.append(
            self.scope,
            thread,
            [message],
            debounce=debounce,
            settings=self._settings,
            idempotency_key=idempotency_key,
        )
        if not kept:
            msg = "what was said under this idempotency key was removed since: use a new key"
            raise GoneError(msg)
        return kept[0]
