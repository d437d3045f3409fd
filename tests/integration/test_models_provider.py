"""What OpenAI's and Anthropic's clients make of a provider's answers, through the real clients."""

import json
import logging
import traceback
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
from pydantic import SecretStr

from recollect.errors import (
    ModelDeniedError,
    ModelError,
    ModelNotFoundError,
    ModelUnavailableError,
)
from recollect.models import LangChainModel, ToolMode, open_model
from recollect.ports import ModelAnswer, ModelRequest, Tool, ToolCall, Turn, Usage
from tests.harness.model_provider import (
    Act,
    Provider,
    answers,
    breaks_off,
    calls,
    chunk,
    completion,
    drips,
    drips_stream,
    message,
    page,
    provider_on_loopback,
    resets,
    streams,
)

pytestmark = pytest.mark.anyio

KEY = "mango-7731-kestrel-0042"
NOTE = Tool(
    name="note",
    description="Keep a note.",
    parameters={
        "type": "object",
        "properties": {"text": {"type": "string"}},
        "required": ["text"],
    },
)
REQUEST = ModelRequest(
    system="Remember.",
    turns=(Turn(role="user", text="I live in Oslo."),),
    tools=(NOTE,),
    must_call=True,
    output_tokens_max=300,
)
TALK = ModelRequest(system="Be kind.", turns=(Turn(role="user", text="Hello"),))

Opened = Callable[..., Any]


@pytest.fixture
def provider() -> Iterator[Provider]:
    with provider_on_loopback() as server:
        yield server


def openai(
    provider: Provider, *, tools: ToolMode = "native", timeout_s: float = 20, retries: int = 0
) -> Any:
    """Open a model of OpenAI's own client."""
    return open_model(
        "openai/tiny",
        base_url=f"{provider.url}/v1",
        api_key=KEY,
        tools=tools,
        timeout_s=timeout_s,
        settings={"max_retries": retries},
    )


def anthropic(
    provider: Provider, *, tools: ToolMode = "auto", timeout_s: float = 20, retries: int = 0
) -> Any:
    """Open a model of Anthropic's own client."""
    return open_model(
        "anthropic:claude-tiny",
        base_url=provider.url,
        api_key=KEY,
        tools=tools,
        timeout_s=timeout_s,
        settings={"max_retries": retries},
    )


def chat_openai(
    provider: Provider, *, tools: ToolMode = "native", timeout_s: float = 20, **more: Any
) -> Any:
    """Open LangChain's class for OpenAI's client."""
    from langchain_openai import ChatOpenAI

    chat = ChatOpenAI(
        model="tiny",
        base_url=f"{provider.url}/v1",
        api_key=SecretStr(KEY),
        max_retries=0,
        **more,
    )
    return open_model(chat, tools=tools, timeout_s=timeout_s)


def chat_anthropic(provider: Provider, *, tools: ToolMode = "auto", timeout_s: float = 20) -> Any:
    """Open LangChain's class for Anthropic's client."""
    from langchain_anthropic import ChatAnthropic

    chat = ChatAnthropic(
        model_name="claude-tiny",
        base_url=provider.url,
        api_key=SecretStr(KEY),
        max_retries=0,
        timeout=None,
        stop=None,
    )
    return open_model(chat, tools=tools, timeout_s=timeout_s)


BY_OPENAI = pytest.mark.parametrize("opened", [openai, chat_openai])
BY_ANTHROPIC = pytest.mark.parametrize("opened", [anthropic, chat_anthropic])
BY_ALL = pytest.mark.parametrize("opened", [openai, anthropic, chat_openai, chat_anthropic])


def parsed(answer: ModelAnswer) -> ModelAnswer:
    """Return *answer* with the arguments of its calls parsed, as some clients give them."""
    read = [
        replace(call, arguments=json.loads(call.arguments))
        if isinstance(call.arguments, str)
        else call
        for call in answer.calls
    ]
    return replace(answer, calls=tuple(read))


@BY_OPENAI
async def test_openai_answers_with_calls(provider: Provider, opened: Opened) -> None:
    """Calls, usage and the cached share of it arrive; the tools, the duty to call, the limit go."""
    provider.acts = [answers(completion(calls(("note", '{"text": "Oslo"}')), "tool_calls"))]

    answer = await opened(provider).answer(REQUEST)

    (path, headers, sent) = provider.seen[0]
    expected = ModelAnswer(
        calls=(ToolCall(name="note", arguments={"text": "Oslo"}, id="c0"),),
        usage=Usage(input_tokens=40, output_tokens=8, cached_tokens=32),
    )
    assert expected == parsed(answer)
    assert ("/v1/chat/completions", f"Bearer {KEY}") == (path, headers["authorization"])
    assert [{"role": "system", "content": "Remember."}] == sent["messages"][:1]
    limit = sent.get("max_tokens", sent.get("max_completion_tokens"))
    assert ("required", 300) == (sent["tool_choice"], limit)
    assert NOTE.parameters == sent["tools"][0]["function"]["parameters"]


@BY_OPENAI
async def test_calls_in_malformed_json_are_kept_as_they_were_written(
    provider: Provider, opened: Opened
) -> None:
    """Beside a sound one: the strict reader says what is wrong with the other."""
    broken = '{"text": "Osl'
    written = calls(("note", broken), ("note", '{"text": "Oslo"}'))
    provider.acts = [answers(completion(written, "length"))]

    answer = await opened(provider).answer(REQUEST)

    found = {call.id: call.arguments for call in answer.calls}
    assert broken == found["c0"]
    assert found["c1"] in ({"text": "Oslo"}, '{"text": "Oslo"}')
    assert answer.stopped == "length"


@BY_OPENAI
async def test_a_repair_is_sent_in_a_form_that_providers_accept(
    provider: Provider, opened: Opened
) -> None:
    """Each call is JSON and is answered at once; what was no JSON is shown as text."""
    turns = (
        *REQUEST.turns,
        Turn(
            role="assistant",
            text="",
            calls=(
                ToolCall(name="note", arguments='{"text": "Osl', id="c0"),
                ToolCall(name="note", arguments={"text": "Oslo"}, id="c1"),
            ),
        ),
        Turn(role="tool", text="c0 is no JSON", answers="c0"),
        Turn(role="user", text="Again, please."),
    )
    provider.acts = [answers(completion(calls(("note", '{"text": "Oslo"}'))))]
    request = ModelRequest(system="Remember.", turns=turns, tools=(NOTE,))

    await opened(provider).answer(request)

    sent = provider.seen[0][2]["messages"]
    assert ["system", "user", "assistant", "tool", "user", "user"] == [
        each["role"] for each in sent
    ]
    assert ["c1"] == [call["id"] for call in sent[2]["tool_calls"]]
    assert '{"text": "Osl' in sent[2]["content"]
    assert ("c1", "c0 is no JSON") == (sent[3]["tool_call_id"], sent[4]["content"])
    assert "tool_choice" not in provider.seen[0][2]


@BY_OPENAI
@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (completion({"content": "I live", "refusal": None}, "length"), ("length", "I live")),
        (completion({"content": None, "refusal": "I will not."}), ("refusal", "I will not.")),
        (completion({"content": ""}, "content_filter"), ("refusal", "")),
        (completion({"content": "Done."}), ("end", "Done.")),
    ],
)
async def test_openai_says_why_it_stopped(
    provider: Provider, opened: Opened, body: object, expected: tuple[str, str]
) -> None:
    """At its limit, by refusal in words, by a filter, or because it was done."""
    provider.acts = [answers(body)]

    answer = await opened(provider).answer(REQUEST)

    assert expected == (answer.stopped, answer.text)


@BY_OPENAI
async def test_a_schema_answer_that_breaks_off_keeps_its_whole_calls(
    provider: Provider, opened: Opened
) -> None:
    """OpenAI's client raises where a schema answer met its limit; what came is not lost."""
    text = '{"calls": [{"tool": "note", "arguments": {"text": "Oslo"}}, {"tool": "note", "argu'
    provider.acts = [answers(completion({"content": text}, "length"))]

    answer = await opened(provider, tools="json_schema").answer(REQUEST)

    assert ("length", '{"text": "Oslo"}') == (answer.stopped, answer.calls[0].arguments)
    assert ("note", '{"tool": "note", "argu') == (answer.calls[1].name, answer.calls[1].arguments)
    assert (40, 8) == (answer.usage.input_tokens, answer.usage.output_tokens)


@BY_OPENAI
async def test_a_schema_answer_that_is_filtered_is_a_refusal(
    provider: Provider, opened: Opened
) -> None:
    """Also where the client raises instead of answering."""
    provider.acts = [answers(completion({"content": ""}, "content_filter"))]

    answer = await opened(provider, tools="json_schema").answer(REQUEST)

    assert ModelAnswer(stopped="refusal", usage=answer.usage) == answer


@BY_OPENAI
async def test_a_schema_goes_as_the_form_of_the_answer(provider: Provider, opened: Opened) -> None:
    """No tool is sent; the arguments come back exactly as they were written."""
    raw = '{"text": "Oslo", "text": NaN, "big": 1e400}'
    text = f'{{"calls": [{{"tool": "note", "arguments": {raw}}}]}}'
    provider.acts = [answers(completion({"content": text}))]

    answer = await opened(provider, tools="json_schema").answer(REQUEST)

    sent = provider.seen[0][2]
    schema = sent["response_format"]["json_schema"]["schema"]
    assert [raw] == [call.arguments for call in answer.calls]
    assert NOTE.parameters == schema["properties"]["calls"]["items"]["properties"]["arguments"]
    limit = sent.get("max_tokens", sent.get("max_completion_tokens"))
    assert ("tools" in sent, 300) == (False, limit)


@BY_OPENAI
async def test_openai_streams(provider: Provider, opened: Opened) -> None:
    """The pieces come as they are sent, and nothing else."""
    provider.acts = [
        streams(
            chunk(role="assistant", content=""),
            chunk(content="Hel"),
            chunk(content="lo"),
            chunk("stop"),
            "[DONE]",
        )
    ]

    pieces = [piece async for piece in opened(provider).stream(TALK)]

    assert ["Hel", "lo"] == pieces
    assert provider.seen[0][2]["stream"] is True


@BY_ANTHROPIC
async def test_anthropic_answers_with_calls(provider: Provider, opened: Opened) -> None:
    """Calls and usage arrive; the stable part is marked for the cache, which counts as input."""
    call: dict[str, object] = {
        "type": "tool_use",
        "id": "toolu_1",
        "name": "note",
        "input": {"text": "Oslo"},
    }
    told = message(
        {"type": "text", "text": "Noted."}, call, stop="tool_use", cache_read_input_tokens=32
    )
    provider.acts = [answers(told)]

    answer = await opened(provider).answer(REQUEST)

    (path, headers, sent) = provider.seen[0]
    expected = ModelAnswer(
        text="Noted.",
        calls=(ToolCall(name="note", arguments={"text": "Oslo"}, id="toolu_1"),),
        usage=Usage(input_tokens=40, output_tokens=8, cached_tokens=32),
    )
    assert expected == answer
    assert path == "/v1/messages"
    assert KEY in headers.get("x-api-key", headers.get("authorization", ""))
    assert {"type": "ephemeral"} == sent["system"][0]["cache_control"]
    assert ("any", 300) == (sent["tool_choice"]["type"], sent["max_tokens"])
    assert NOTE.parameters == sent["tools"][0]["input_schema"]


@BY_ANTHROPIC
@pytest.mark.parametrize(
    ("stop", "expected"),
    [("end_turn", "end"), ("max_tokens", "length"), ("refusal", "refusal")],
)
async def test_anthropic_says_why_it_stopped(
    provider: Provider, opened: Opened, stop: str, expected: str
) -> None:
    """Done, at its limit, or by refusal."""
    provider.acts = [answers(message({"type": "text", "text": "So"}, stop=stop))]

    answer = await opened(provider).answer(TALK)

    assert (expected, "So") == (answer.stopped, answer.text)


@BY_ANTHROPIC
async def test_anthropic_streams(provider: Provider, opened: Opened) -> None:
    """The pieces of text come as they are sent."""
    block = {"type": "content_block_start", "index": 0}
    piece = {"type": "content_block_delta", "index": 0}
    provider.acts = [
        streams(
            {"type": "message_start", "message": message()},
            {**block, "content_block": {"type": "text", "text": ""}},
            {**piece, "delta": {"type": "text_delta", "text": "Hel"}},
            {**piece, "delta": {"type": "text_delta", "text": "lo"}},
            {"type": "content_block_stop", "index": 0},
            {
                "type": "message_delta",
                "delta": {"stop_reason": "end_turn", "stop_sequence": None},
                "usage": {"output_tokens": 2},
            },
            {"type": "message_stop"},
            kind="named",
        )
    ]

    pieces = [piece async for piece in opened(provider).stream(TALK)]

    assert ["Hel", "lo"] == pieces


def openai_error(code: str | None, text: str = "It failed.") -> dict[str, object]:
    return {"error": {"message": text, "type": "invalid_request_error", "code": code}}


def anthropic_error(kind: str, text: str = "It failed.") -> dict[str, object]:
    return {"type": "error", "error": {"type": kind, "message": text}}


BUSY = {"Retry-After": "7"}


@BY_ALL
@pytest.mark.parametrize(
    ("act", "kind", "words", "retry_after_s"),
    [
        (answers(openai_error("rate_limit_exceeded"), 429, BUSY), ModelUnavailableError, "429", 7),
        (answers(openai_error(None), 500), ModelUnavailableError, "500", None),
        (answers(openai_error(None), 503, BUSY), ModelUnavailableError, "503", 7),
        (answers(anthropic_error("overloaded_error"), 529), ModelUnavailableError, "529", None),
        (answers(openai_error("invalid_api_key"), 401), ModelDeniedError, "401", None),
        (answers(openai_error(None), 402), ModelDeniedError, "402", None),
        (answers(openai_error(None), 403), ModelDeniedError, "403", None),
        (answers(openai_error("insufficient_quota"), 429, BUSY), ModelDeniedError, "429", None),
        (answers(openai_error("model_not_found"), 404), ModelNotFoundError, "404", None),
        (answers(anthropic_error("not_found_error", "model: tiny"), 404), ModelNotFoundError,
         "model: tiny", None),
        (answers(openai_error(None, "The model `tiny` has been deprecated"), 400),
         ModelNotFoundError, "deprecated", None),
        (answers(anthropic_error("invalid_request_error", "Your credit balance is too low"), 400),
         ModelDeniedError, "credit balance", None),
        (answers(openai_error("context_length_exceeded"), 400), ModelError, "400", None),
        (resets, ModelUnavailableError, "Connection", None),
    ],
)  # fmt: skip
async def test_failures_are_told_apart(
    provider: Provider,
    *,
    opened: Opened,
    act: Act,
    kind: type[ModelError],
    words: str,
    retry_after_s: float | None,
) -> None:
    """By what to do next; once asked, not again and again; with the client's error as cause."""
    provider.acts = [act]

    with pytest.raises(ModelError) as failure:
        await opened(provider).answer(REQUEST)

    assert kind is type(failure.value)
    assert words in str(failure.value)
    assert "tiny" in str(failure.value)
    assert retry_after_s == getattr(failure.value, "retry_after_s", None)
    assert failure.value.__cause__ is not None
    assert len(provider.seen) == 1


@BY_ALL
async def test_nobody_there_is_unavailable(opened: Opened) -> None:
    """A refused connection may pass."""
    server = Provider()
    model = opened(server)
    server.server_close()

    with pytest.raises(ModelUnavailableError, match="tiny"):
        await model.answer(TALK)


@BY_ALL
async def test_an_answer_that_is_no_answer_is_a_model_error(
    provider: Provider, opened: Opened
) -> None:
    """A login page with status 200, as proxies send it."""
    provider.acts = [answers("<html>Log in</html>")]

    with pytest.raises(ModelError):
        await opened(provider).answer(TALK)


@BY_ALL
async def test_a_drip_does_not_outlast_the_deadline(provider: Provider, opened: Opened) -> None:
    """A byte now and then keeps every read timeout from passing, but not the whole deadline."""
    provider.acts = [drips]

    with pytest.raises(ModelUnavailableError, match=r"within 0\.3 s"):
        await opened(provider, timeout_s=0.3).answer(TALK)


async def gather(stream: AsyncIterator[str], pieces: list[str]) -> None:
    """Add what *stream* yields to *pieces*, where it stays if the stream fails."""
    async for piece in stream:
        pieces.append(piece)  # noqa: PERF401  # a list of all would be lost with the error


@BY_OPENAI
async def test_a_stream_that_drips_does_not_outlast_the_deadline(
    provider: Provider, opened: Opened
) -> None:
    """What came before it stays yielded."""
    provider.acts = [drips_stream]
    pieces: list[str] = []

    with pytest.raises(ModelUnavailableError, match=r"within 0\.3 s"):
        await gather(opened(provider, timeout_s=0.3).stream(TALK), pieces)

    assert {"a"} == set(pieces)


@BY_OPENAI
async def test_a_stream_may_fail_in_its_middle(provider: Provider, opened: Opened) -> None:
    """An event that says so is a failure like any other."""
    provider.acts = [
        streams(chunk(content="Hel"), {"error": {"type": "server_error", "message": "Crashed"}})
    ]
    pieces: list[str] = []

    with pytest.raises(ModelUnavailableError, match="Crashed"):
        await gather(opened(provider).stream(TALK), pieces)

    assert ["Hel"] == pieces


@BY_OPENAI
async def test_a_stream_may_be_left(provider: Provider, opened: Opened) -> None:
    """A reader who has seen enough closes it; nothing is left open."""
    provider.acts = [drips_stream]
    stream = opened(provider).stream(TALK)

    first = await anext(stream)
    await stream.aclose()

    assert first == "a"


@BY_ALL
@pytest.mark.parametrize("status", [400, 401, 500])
async def test_no_message_shows_the_key(
    provider: Provider,
    opened: Opened,
    status: int,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Not even where the provider quotes it: not in the error, its causes, or what is logged."""
    caplog.set_level(logging.DEBUG)
    provider.acts = [answers(openai_error(None, f"Incorrect API key provided: {KEY}."), status)]
    model = opened(provider)

    with pytest.raises(ModelError) as failure:
        await model.answer(TALK)

    shown = "".join(traceback.format_exception(failure.value)) + repr(model)
    ours = [each for each in caplog.records if each.name.startswith("recollect")]
    assert "***" in str(failure.value)
    assert KEY not in shown
    assert [] == ours


async def test_a_key_with_a_line_end_is_denied_and_not_shown(provider: Provider) -> None:
    """HTTP clients refuse such a header and quote it whole; waiting does not help."""
    model = open_model("openai/tiny", base_url=f"{provider.url}/v1", api_key=f"{KEY}\n")

    with pytest.raises(ModelDeniedError) as failure:
        await model.answer(TALK)

    assert KEY not in "".join(traceback.format_exception(failure.value))


async def test_the_environments_key_is_not_sent_elsewhere(
    provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A local server gets no key of a provider that happens to be set."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    provider.acts = [answers(completion({"content": "Hi"}))]

    await open_model("openai/tiny", base_url=f"{provider.url}/v1").answer(TALK)

    assert KEY not in provider.seen[0][1]["authorization"]


@pytest.mark.parametrize("opened", [openai, anthropic])
async def test_no_connection_outlives_its_answer(provider: Provider, opened: Opened) -> None:
    """The clients are shared by all loops of a process; a kept connection belongs to one."""
    provider.acts = [answers(completion({"content": "Hi"}) | message())]

    await opened(provider).answer(TALK)

    assert "close" == provider.seen[0][1]["connection"]


async def test_without_hiding_the_key_would_be_shown(
    provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mutant that the tests above must catch: an adapter that hides nothing."""
    monkeypatch.setattr("recollect.providers.provider_errors.redacted", lambda text, _: text)
    provider.acts = [answers(openai_error(None, f"Incorrect API key provided: {KEY}."), 401)]

    with pytest.raises(ModelError) as failure:
        await openai(provider).answer(TALK)

    assert KEY in str(failure.value)


async def test_an_object_of_langchain_is_named_by_itself(provider: Provider) -> None:
    """Its class and model name make the identity; its own limit of tokens stays if lower."""
    from langchain_openai import ChatOpenAI

    chat = ChatOpenAI(
        model="tiny",
        base_url=f"{provider.url}/v1",
        api_key=SecretStr(KEY),
        max_completion_tokens=50,
        max_retries=0,
    )
    provider.acts = [answers(completion({"content": "Hi"}))]

    model = open_model(chat)
    await model.answer(TALK)

    assert isinstance(model, LangChainModel)
    assert "openai/tiny" == model.identity
    assert 50 == provider.seen[0][2]["max_completion_tokens"]


NATIVE = pytest.mark.parametrize("opened", [openai, anthropic])


@NATIVE
async def test_a_busy_provider_is_asked_again(provider: Provider, opened: Opened) -> None:
    """By its client, after the pause that the provider asks for, within the deadline."""
    told = completion({"content": "Hi"}) | message({"type": "text", "text": "Hi"})
    busy = answers(openai_error("rate_limit_exceeded"), 429, {"retry-after-ms": "1"})
    provider.acts = [busy, answers(told)]

    answer = await opened(provider, retries=2).answer(TALK)

    assert ("Hi", 2) == (answer.text, len(provider.seen))


@NATIVE
async def test_a_long_pause_is_told_and_not_waited_for(provider: Provider, opened: Opened) -> None:
    """The client would wait for it, and the deadline end first: a time-out hid that it is busy."""
    busy = answers(openai_error("rate_limit_exceeded"), 429, {"retry-after": "90"})
    provider.acts = [busy, busy]

    with pytest.raises(ModelUnavailableError, match=r"busy, limited or away \(429\)") as caught:
        await opened(provider, retries=2, timeout_s=5).answer(TALK)

    assert (90.0, 1) == (caught.value.retry_after_s, len(provider.seen))


@NATIVE
async def test_a_client_that_waits_for_a_long_pause_would_hide_it(
    provider: Provider, opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("recollect.providers.provider_errors.PAUSE_S_MAX", 600)
    busy = answers(openai_error("rate_limit_exceeded"), 429, {"retry-after": "90"})
    provider.acts = [busy, busy]

    with pytest.raises(ModelUnavailableError, match="no whole answer within 1 s"):
        await opened(provider, retries=2, timeout_s=1).answer(TALK)


@NATIVE
@pytest.mark.parametrize("status", [200, 502])
async def test_a_web_page_is_told_as_one(provider: Provider, opened: Opened, status: int) -> None:
    """With what to check, instead of its source."""
    provider.acts = [page(status, "Sign in")]

    with pytest.raises(ModelError, match=r"tiny.*web page .*check the base URL") as told:
        await opened(provider).answer(TALK)

    assert "<html" not in str(told.value).lower()
    assert isinstance(told.value, ModelUnavailableError) == (status == 502)


@NATIVE
async def test_a_web_page_is_no_stream(provider: Provider, opened: Opened) -> None:
    provider.acts = [page()]

    with pytest.raises(ModelError, match=r"tiny.*web page.*check the base URL"):
        await gather(opened(provider).stream(TALK), [])


@NATIVE
async def test_an_answer_that_breaks_off_may_come_later(provider: Provider, opened: Opened) -> None:
    """Half of its JSON is no answer, and nothing of it is kept."""
    provider.acts = [breaks_off(completion({"content": "Hi"}) | message())]

    with pytest.raises(ModelUnavailableError, match="tiny"):
        await opened(provider).answer(TALK)


@NATIVE
async def test_a_stream_that_is_cut_off_says_so(provider: Provider, opened: Opened) -> None:
    """The end of the connection alone does not end an answer."""
    block = {"type": "content_block_start", "index": 0}
    piece = {"type": "content_block_delta", "index": 0}
    by_anthropic = [
        {"type": "message_start", "message": message()},
        {**block, "content_block": {"type": "text", "text": ""}},
        {**piece, "delta": {"type": "text_delta", "text": "Hel"}},
    ]
    is_openai = opened is openai
    provider.acts = [
        streams(chunk(content="Hel")) if is_openai else streams(*by_anthropic, kind="n")
    ]
    pieces: list[str] = []

    with pytest.raises(ModelUnavailableError, match=r"tiny broke off its answer.*try again"):
        await gather(opened(provider).stream(TALK), pieces)

    assert ["Hel"] == pieces


async def test_a_client_that_believes_every_end_would_keep_half_an_answer(
    provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mutant that the test above must catch."""
    monkeypatch.setattr("recollect.models.openai_model.read_chunk", lambda _: ("Hel", True))
    provider.acts = [streams(chunk(content="Hel"))]
    pieces: list[str] = []

    await gather(openai(provider).stream(TALK), pieces)

    assert ["Hel"] == pieces


async def test_openai_itself_is_sent_a_strict_schema(
    provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every property is required there; the null of an omitted one does not reach the reader."""
    monkeypatch.setattr("recollect.providers.endpoints.Endpoint.is_elsewhere", False)
    tool = replace(NOTE, parameters={
        "type": "object",
        "properties": {"text": {"type": "string", "maxLength": 9}, "mood": {"type": "string"}},
        "required": ["text"],
    })  # fmt: skip
    text = '{"calls": [{"tool": "note", "arguments": {"text": "Oslo", "mood": null}}]}'
    provider.acts = [answers(completion({"content": text}))]

    answer = await openai(provider, tools="json_schema").answer(replace(REQUEST, tools=(tool,)))

    sent = provider.seen[0][2]["response_format"]["json_schema"]
    arguments = sent["schema"]["properties"]["calls"]["items"]["properties"]["arguments"]
    assert ['{"text": "Oslo"}'] == [call.arguments for call in answer.calls]
    assert (True, ["text", "mood"]) == (sent["strict"], arguments["required"])
    assert {"type": "string"} == arguments["properties"]["text"]
    assert arguments["additionalProperties"] is False


async def test_anthropic_answers_in_the_form_of_a_schema(provider: Provider) -> None:
    text = '{"calls": [{"tool": "note", "arguments": {"text": "Oslo"}}]}'
    provider.acts = [answers(message({"type": "text", "text": text}))]

    answer = await anthropic(provider, tools="json_schema").answer(REQUEST)

    sent = provider.seen[0][2]
    assert ['{"text": "Oslo"}'] == [call.arguments for call in answer.calls]
    assert ("json_schema", False) == (sent["output_config"]["format"]["type"], "tools" in sent)


async def test_anthropic_gets_all_answers_in_one_message(provider: Provider) -> None:
    """As it demands: the answers to calls first, in the message right after them."""
    said = [ToolCall(name="note", arguments={"text": each}, id=each) for each in ("a", "b")]
    turns = (
        *REQUEST.turns,
        Turn(role="assistant", text="", calls=tuple(said)),
        Turn(role="tool", text="kept", answers="a"),
        Turn(role="user", text="Again."),
    )
    provider.acts = [answers(message({"type": "text", "text": "Done."}))]

    await anthropic(provider).answer(replace(REQUEST, turns=turns))

    sent = provider.seen[0][2]["messages"]
    assert ["user", "assistant", "user"] == [each["role"] for each in sent]
    assert ["tool_use", "tool_use"] == [each["type"] for each in sent[1]["content"]]
    assert ["tool_result", "tool_result", "text"] == [each["type"] for each in sent[2]["content"]]


async def test_the_environment_names_server_and_key(
    provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As the provider's own variables do: a key that is set beside its server goes there."""
    monkeypatch.setenv("OPENAI_BASE_URL", f"{provider.url}/v1")
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("OLLAMA_HOST", provider.url.removeprefix("http://"))
    provider.acts = [answers(completion({"content": "Hi"}))] * 2

    for choice in ("openai/tiny", "ollama/tiny:1b"):
        await open_model(choice, settings={"temperature": 0}).answer(TALK)

    first, second = provider.seen
    assert ("/v1/chat/completions", f"Bearer {KEY}") == (first[0], first[1]["authorization"])
    assert ("/v1/chat/completions", "Bearer none") == (second[0], second[1]["authorization"])
    assert (0, "tiny:1b") == (first[2]["temperature"], second[2]["model"])
