"""Chat: a message is kept, answered with what is remembered, and the answer is kept, too."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Final

from fastapi import APIRouter
from starlette.responses import StreamingResponse

from recollect.chat import Chatbot
from recollect.chat.chat_prompt import recalled_in
from recollect.errors import RecollectError
from recollect.ports import ModelRequest
from recollect.recall.context import Context
from recollect.records import Json, JsonObject, Message
from recollect.server.http.event_streams import Event, check_streams, event_stream
from recollect.server.http.problems import problem_of
from recollect.server.http.scope_access import IdempotencyKey, Reach, Writing
from recollect.server.http.type_registry import settings_of
from recollect.server.routes.recall import note
from recollect.server.schemas.requests import ChatRequest
from recollect.text.token_estimate import estimated_tokens
from recollect.wire.messages import message_to_json
from recollect.wire.recalls import recalled_to_json
from recollect.wire.threads import seconds_until

router: Final = APIRouter(prefix="/v1", tags=["chat"])
NO_MODEL: Final = (
    "there is no answer, because the service has no model; the message was stored: start it with "
    "--model provider/model, or with a base URL of a local one"
)


@router.post("/chat", summary="Say something, and be answered", response_model=None)
async def chat(
    reach: Writing, asked: ChatRequest, idempotency_key: IdempotencyKey = None
) -> StreamingResponse:
    """
    Keep what the user says, and stream the answer, which is kept as well.

    The first event, `kept`, tells that the message is on disk. Leaving early keeps what was
    streamed by then. Said again under the same `Idempotency-Key` it is kept once, and answered
    with the answer that was kept; while that is being given, it is waited for.
    """
    reach.may("read")
    service = reach.service
    check_streams(service, reach.principal.tenant)
    size = len(asked.text.encode("utf-8", "replace"))
    await service.check_quota(reach.principal, messages=2, size=size)
    settings = await settings_of(reach, asked.assistant)
    bot = Chatbot(
        reach.memory,
        service.model,
        reach.scope,
        thread=asked.thread,
        formation=service.assistants.of(settings, reach.scope),
        settings=settings or None,
    )
    said = await bot.hear(asked.text, idempotency_key=idempotency_key)
    turn = _turn(
        reach, bot, said, may_be_again=idempotency_key is not None, tells_prompt=asked.prompt
    )
    return event_stream(reach, turn)


async def _turn(
    reach: Reach, bot: Chatbot, said: Message, *, may_be_again: bool, tells_prompt: bool
) -> AsyncGenerator[Event, None]:
    """Report that a message is stored, and answer it, unless it was answered before."""
    yield Event(name="kept", content={"user": message_to_json(said)})
    async with reach.service.answers.alone((reach.scope, said.thread, said.id)):
        given = await bot.answer_to(said) if may_be_again else None
        if given is None:
            answers = _answer(reach, bot, said, tells_prompt=tells_prompt)
        else:
            answers = _told(reach, bot, said, given)
        async with aclosing(answers):
            async for event in answers:
                yield event


async def _told(
    reach: Reach, bot: Chatbot, said: Message, kept: Message
) -> AsyncGenerator[Event, None]:
    """Repeat an answer that was given before."""
    yield Event(name="token", content={"text": kept.text})
    yield Event(name="done", content=await _done(reach, said, kept, await bot.known(said), None))


async def _answer(
    reach: Reach, bot: Chatbot, said: Message, *, tells_prompt: bool
) -> AsyncGenerator[Event, None]:
    if bot.model is None:
        known = await bot.known(said)
        yield Event(name="done", content=await _done(reach, said, None, known, NO_MODEL))
        return
    try:
        async with bot.answering(said, once=True) as answer:
            async for piece in answer.pieces:
                yield Event(name="token", content={"text": piece})
        note(reach, said.text, [each.entry for each in answer.known.entries])
        done = await _done(reach, said, answer.kept, answer.known, None)
        if tells_prompt:
            done = {**done, "prompt": prompt_to_json(answer.request)}
        yield Event(name="done", content=done)
    except RecollectError as error:
        yield Event(name="error", content=problem_of(error).record())


async def _done(
    reach: Reach, said: Message, kept: Message | None, known: Context, reason: str | None
) -> JsonObject:
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
    """Return a prompt as the model got it, with an estimate of its tokens."""
    turns: list[Json] = [{"role": each.role, "text": each.text} for each in request.turns]
    texts = (request.system, *(each.text for each in request.turns))
    return {
        "system": request.system,
        "turns": turns,
        "tokens": sum(estimated_tokens(each) for each in texts),
    }
