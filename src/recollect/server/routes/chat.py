"""Chat: store a message, answer it with the remembered context, and store the answer."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import TYPE_CHECKING, Final

from starlette.responses import StreamingResponse

from recollect.deferred_imports import load_modules
from recollect.errors import RecollectError
from recollect.ports import ModelRequest
from recollect.recall.query_analysis import is_question
from recollect.recall.results import Recalled
from recollect.records import Json, JsonObject, Message
from recollect.server.http.event_streams import Event, check_streams, event_stream
from recollect.server.http.problems import problem_of
from recollect.server.http.query_params import strict_router
from recollect.server.http.scope_access import IdempotencyKey, Reach, Writing
from recollect.server.http.type_registry import settings_of
from recollect.server.routes.recall import note
from recollect.server.schemas.requests import ChatRequest
from recollect.text.token_estimate import estimated_tokens
from recollect.wire.recalls import recalled_to_json
from recollect.wire.threads import message_to_json, seconds_until

if TYPE_CHECKING:
    from recollect.chat import Chatbot
    from recollect.recall.context import Context

router: Final = strict_router(prefix="/v1", tags=["chat"])
NO_MODEL: Final = (
    "there is no answer, because the service has no model; the message was stored: start it with "
    "--model provider/model, or with a base URL of a local one"
)
ERASED: Final = (
    "the answer was not stored, because something was erased in this scope meanwhile: it may "
    "repeat what was erased"
)


@router.post("/chat", summary="Send a message and stream the answer", response_model=None)
async def chat(
    reach: Writing, asked: ChatRequest, idempotency_key: IdempotencyKey = None
) -> StreamingResponse:
    """
    Store the user's message, and stream the answer, which is stored as well.

    The first event, `kept`, means that the message is on disk. If you disconnect early, the answer
    up to then is stored. Repeated under the same `Idempotency-Key`, the message is stored once and
    the stored answer is returned; a repetition during the answer waits for it.
    """
    reach.may("read")
    service = reach.service
    check_streams(service, reach.principal.tenant)
    size = len(asked.text.encode("utf-8", "replace"))
    await service.check_quota(reach.principal, messages=2, size=size)
    settings = await settings_of(reach, asked.assistant)
    await load_modules("recollect.chat")
    from recollect.chat import Chatbot

    bot = Chatbot(
        reach.memory,
        service.model,
        reach.scope,
        thread=asked.thread,
        formation=service.assistants.of(settings, reach.scope),
        settings=settings or None,
        language=asked.language,
    )
    said = await bot.hear(asked.text, idempotency_key=idempotency_key)
    turn = _turn(reach, bot, said, may_repeat=idempotency_key is not None, with_prompt=asked.prompt)
    return event_stream(reach, turn)


async def _turn(
    reach: Reach, bot: Chatbot, said: Message, *, may_repeat: bool, with_prompt: bool
) -> AsyncGenerator[Event, None]:
    """Report that a message is stored, and answer it, or repeat its stored answer."""
    yield Event(name="kept", content={"user": message_to_json(said)})
    async with reach.service.answers.alone((reach.scope, said.thread, said.id)):
        stored = await bot.answer_to(said) if may_repeat else None
        if stored is None:
            answers = _answer(reach, bot, said, with_prompt=with_prompt)
        else:
            answers = _repeat_answer(reach, bot, said, stored)
        async with aclosing(answers):
            async for event in answers:
                yield event


async def _repeat_answer(
    reach: Reach, bot: Chatbot, said: Message, kept: Message
) -> AsyncGenerator[Event, None]:
    yield Event(name="token", content={"text": kept.text})
    yield Event(name="done", content=await _done(reach, said, kept, await bot.known(said), None))


async def _answer(
    reach: Reach, bot: Chatbot, said: Message, *, with_prompt: bool
) -> AsyncGenerator[Event, None]:
    """Yield the answer's tokens, then what it used; or one error."""
    if bot.model is None:
        known = await bot.known(said)
        await _count_recall(reach, said, known)
        yield Event(name="done", content=await _done(reach, said, None, known, NO_MODEL))
        return
    try:
        async with bot.answering(said, once=True) as answer:
            await _count_recall(reach, said, answer.known)
            async for piece in answer.pieces:
                yield Event(name="token", content={"text": piece})
        await _note_documents(reach, said, answer.known, answer.kept.text if answer.kept else "")
        reason = ERASED if answer.text and answer.kept is None else None
        done = await _done(reach, said, answer.kept, answer.known, reason)
        if with_prompt:
            done = {**done, "prompt": prompt_to_json(answer.request)}
        yield Event(name="done", content=done)
    except RecollectError as error:
        yield Event(name="error", content=problem_of(error).record())


async def _count_recall(reach: Reach, said: Message, known: Context) -> None:
    """Count the search that a prompt was made of, whether or not the model answers."""
    reach.service.usage.add(reach.scope, recalls=1)
    if _asks(said):
        await note(reach, said.text, [each.entry for each in known.entries])


def _asks(said: Message) -> bool:
    from recollect.recall.advice_requests import asks_for_advice  # loaded with the prompt

    return is_question(said.text) or asks_for_advice(said.text)


async def _note_documents(reach: Reach, said: Message, known: Context, answer: str) -> None:
    """Record that an answer used a document: every prompt has them, so that only a quote counts."""
    from recollect.chat.answer_sources import quoted_documents

    found = quoted_documents(known, answer) if _asks(said) else ()
    used = [Recalled(scope=each.scope, content=each, score=0.0, signals={}) for each in found]
    await note(reach, said.text, used)


async def _done(
    reach: Reach, said: Message, kept: Message | None, known: Context, reason: str | None
) -> JsonObject:
    from recollect.chat.chat_prompt import recalled_in

    memory = reach.memory
    thread = await memory.thread(reach.scope, said.thread)
    due = thread.due if thread else None
    recalled: list[Json] = [
        recalled_to_json(each, reach.relative, whole=False) for each in recalled_in(known)
    ]
    return {
        "user": message_to_json(said),
        "assistant": message_to_json(kept) if kept else None,
        "recalled": recalled,
        "due_in_s": seconds_until(due, reach.service.now()),
        "reason": reason,
    }


def prompt_to_json(request: ModelRequest) -> JsonObject:
    """Return a prompt as it was sent to the model, with an estimate of its tokens."""
    turns: list[Json] = [{"role": each.role, "text": each.text} for each in request.turns]
    texts = (request.system, *(each.text for each in request.turns))
    return {
        "system": request.system,
        "turns": turns,
        "tokens": sum(estimated_tokens(each) for each in texts),
    }
