"""What OpenAI's and Anthropic's clients make of a provider's answers, through the real clients."""

import json
import logging
import socket
import struct
import threading
import traceback
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from recollect.errors import (
    ModelDeniedError,
    ModelError,
    ModelNotFoundError,
    ModelUnavailableError,
)
from recollect.models import LangChainModel, ToolMode, open_model
from recollect.ports import ModelAnswer, ModelRequest, Tool, ToolCall, Turn, Usage

pytestmark = pytest.mark.anyio

DRIPS = 150  # far beyond every deadline here, and not for ever
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

Act = Callable[["Exchange"], None]


class Exchange(BaseHTTPRequestHandler):
    """One request at the provider, and what is done with it."""

    protocol_version = "HTTP/1.1"
    server: "Provider"

    def do_POST(self) -> None:
        """Note the request; do what is next."""
        length = int(self.headers["content-length"])
        body = json.loads(self.rfile.read(length))
        heard = {name.lower(): value for name, value in self.headers.items()}
        self.server.seen.append((self.path, heard, body))
        self.close_connection = True
        self.server.acts.pop(0)(self)

    def begin(self, status: int, kind: str, headers: Mapping[str, str]) -> None:
        """Send the head of an answer, without saying how long it is."""
        self.send_response(status)
        for name, value in {"content-type": kind, "connection": "close", **headers}.items():
            self.send_header(name, value)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Stay silent."""


@dataclass
class Provider(ThreadingHTTPServer):
    """A provider on loopback that does, request by request, what it was told to."""

    acts: list[Act] = field(default_factory=list)
    seen: list[tuple[str, dict[str, str], dict[str, Any]]] = field(default_factory=list)
    is_over: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        self.daemon_threads = True
        super().__init__(("127.0.0.1", 0), Exchange)

    __hash__ = object.__hash__

    @property
    def url(self) -> str:
        """Say where it is."""
        return f"http://127.0.0.1:{self.server_address[1]}"


@pytest.fixture
def provider() -> Iterator[Provider]:
    server = Provider()
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    yield server
    server.is_over.set()
    server.shutdown()
    server.server_close()
    thread.join()


def answers(body: object, status: int = 200, headers: Mapping[str, str] | None = None) -> Act:
    def act(exchange: Exchange) -> None:
        exchange.begin(status, "application/json", headers or {})
        exchange.wfile.write(json.dumps(body).encode())

    return act


def streams(*events: object, kind: str = "") -> Act:
    def act(exchange: Exchange) -> None:
        exchange.begin(200, "text/event-stream", {})
        for event in events:
            name = f"event: {event['type']}\n" if isinstance(event, dict) and kind else ""
            text = event if isinstance(event, str) else json.dumps(event)
            exchange.wfile.write(f"{name}data: {text}\n\n".encode())
            exchange.wfile.flush()

    return act


def drips(exchange: Exchange) -> None:
    """Send a byte now and then: no read of the client's ever times out."""
    exchange.begin(200, "application/json", {})
    for _ in range(DRIPS):
        exchange.server.is_over.wait(0.02)
        try:
            exchange.wfile.write(b" ")
            exchange.wfile.flush()
        except OSError:
            return


def drips_stream(exchange: Exchange) -> None:
    exchange.begin(200, "text/event-stream", {})
    for _ in range(DRIPS):
        exchange.server.is_over.wait(0.02)
        try:
            exchange.wfile.write(f"data: {json.dumps(chunk(content='a'))}\n\n".encode())
            exchange.wfile.flush()
        except OSError:
            return


def resets(exchange: Exchange) -> None:
    """Close the connection with a reset, as a crashed proxy does."""
    exchange.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    exchange.connection.close()


def completion(
    message: dict[str, object], finish: str = "stop", **more: object
) -> dict[str, object]:
    """Return a chat completion as OpenAI answers it."""
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "tiny",
        "choices": [
            {"index": 0, "finish_reason": finish, "message": {"role": "assistant", **message}}
        ],
        "usage": {
            "prompt_tokens": 40,
            "completion_tokens": 8,
            "total_tokens": 48,
            "prompt_tokens_details": {"cached_tokens": 32},
        },
        **more,
    }


def calls(*written: tuple[str, str]) -> dict[str, object]:
    """Return the message of a completion that calls functions with arguments as written."""
    return {
        "content": None,
        "tool_calls": [
            {"id": f"c{place}", "type": "function", "function": {"name": name, "arguments": raw}}
            for place, (name, raw) in enumerate(written)
        ],
    }


def chunk(finish: str | None = None, **delta: object) -> dict[str, object]:
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "tiny",
        "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
    }


def message(*content: dict[str, object], stop: str = "end_turn", **usage: int) -> dict[str, object]:
    """Return a message as Anthropic answers it."""
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "tiny",
        "content": list(content),
        "stop_reason": stop,
        "stop_sequence": None,
        "usage": {"input_tokens": 8, "output_tokens": 8, **usage},
    }


def openai(provider: Provider, *, tools: ToolMode = "native", timeout_s: float = 20) -> Any:
    return open_model(
        "openai/tiny",
        base_url=f"{provider.url}/v1",
        api_key=KEY,
        tools=tools,
        timeout_s=timeout_s,
    )


def anthropic(provider: Provider, *, tools: ToolMode = "auto", timeout_s: float = 20) -> Any:
    return open_model(
        "anthropic:claude-tiny",
        base_url=provider.url,
        api_key=KEY,
        tools=tools,
        timeout_s=timeout_s,
    )


async def test_openai_answers_with_calls(provider: Provider) -> None:
    """Calls, usage and the cached share of it arrive; the tools, the duty to call, the limit go."""
    provider.acts = [answers(completion(calls(("note", '{"text": "Oslo"}')), "tool_calls"))]

    answer = await openai(provider).answer(REQUEST)

    (path, headers, sent) = provider.seen[0]
    expected = ModelAnswer(
        calls=(ToolCall(name="note", arguments={"text": "Oslo"}, id="c0"),),
        usage=Usage(input_tokens=40, output_tokens=8, cached_tokens=32),
    )
    assert expected == answer
    assert ("/v1/chat/completions", f"Bearer {KEY}") == (path, headers["authorization"])
    assert [{"role": "system", "content": "Remember."}] == sent["messages"][:1]
    assert ("required", 300) == (sent["tool_choice"], sent["max_completion_tokens"])
    assert NOTE.parameters == sent["tools"][0]["function"]["parameters"]


async def test_calls_in_malformed_json_are_kept_as_they_were_written(provider: Provider) -> None:
    """Beside a sound one: the strict reader says what is wrong with the other."""
    broken = '{"text": "Osl'
    written = calls(("note", broken), ("note", '{"text": "Oslo"}'))
    provider.acts = [answers(completion(written, "length"))]

    answer = await openai(provider).answer(REQUEST)

    assert {"c0": broken, "c1": {"text": "Oslo"}} == {
        call.id: call.arguments for call in answer.calls
    }
    assert answer.stopped == "length"


async def test_a_repair_is_sent_in_a_form_that_providers_accept(provider: Provider) -> None:
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

    await openai(provider).answer(request)

    sent = provider.seen[0][2]["messages"]
    assert ["system", "user", "assistant", "tool", "user", "user"] == [
        each["role"] for each in sent
    ]
    assert ["c1"] == [call["id"] for call in sent[2]["tool_calls"]]
    assert '{"text": "Osl' in sent[2]["content"]
    assert ("c1", "c0 is no JSON") == (sent[3]["tool_call_id"], sent[4]["content"])
    assert "tool_choice" not in provider.seen[0][2]


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
    provider: Provider, body: object, expected: tuple[str, str]
) -> None:
    """At its limit, by refusal in words, by a filter, or because it was done."""
    provider.acts = [answers(body)]

    answer = await openai(provider).answer(REQUEST)

    assert expected == (answer.stopped, answer.text)


async def test_a_schema_answer_that_breaks_off_keeps_its_whole_calls(provider: Provider) -> None:
    """OpenAI's client raises where a schema answer met its limit; what came is not lost."""
    text = '{"calls": [{"tool": "note", "arguments": {"text": "Oslo"}}, {"tool": "note", "argu'
    provider.acts = [answers(completion({"content": text}, "length"))]

    answer = await openai(provider, tools="json_schema").answer(REQUEST)

    assert ("length", '{"text": "Oslo"}') == (answer.stopped, answer.calls[0].arguments)
    assert ("note", '{"tool": "note", "argu') == (answer.calls[1].name, answer.calls[1].arguments)
    assert Usage(input_tokens=40, output_tokens=8) == answer.usage


async def test_a_schema_answer_that_is_filtered_is_a_refusal(provider: Provider) -> None:
    """Also where the client raises instead of answering."""
    provider.acts = [answers(completion({"content": ""}, "content_filter"))]

    answer = await openai(provider, tools="json_schema").answer(REQUEST)

    assert ModelAnswer(stopped="refusal") == answer


async def test_a_schema_goes_as_the_form_of_the_answer(provider: Provider) -> None:
    """No tool is sent; the arguments come back exactly as they were written."""
    raw = '{"text": "Oslo", "text": NaN, "big": 1e400}'
    text = f'{{"calls": [{{"tool": "note", "arguments": {raw}}}]}}'
    provider.acts = [answers(completion({"content": text}))]

    answer = await openai(provider, tools="json_schema").answer(REQUEST)

    sent = provider.seen[0][2]
    schema = sent["response_format"]["json_schema"]["schema"]
    assert [raw] == [call.arguments for call in answer.calls]
    assert NOTE.parameters == schema["properties"]["calls"]["items"]["properties"]["arguments"]
    assert ("tools" in sent, 300) == (False, sent["max_completion_tokens"])


async def test_openai_streams(provider: Provider) -> None:
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

    pieces = [piece async for piece in openai(provider).stream(TALK)]

    assert ["Hel", "lo"] == pieces
    assert provider.seen[0][2]["stream"] is True


async def test_anthropic_answers_with_calls(provider: Provider) -> None:
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

    answer = await anthropic(provider).answer(REQUEST)

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


@pytest.mark.parametrize(
    ("stop", "expected"),
    [("end_turn", "end"), ("max_tokens", "length"), ("refusal", "refusal")],
)
async def test_anthropic_says_why_it_stopped(provider: Provider, stop: str, expected: str) -> None:
    """Done, at its limit, or by refusal."""
    provider.acts = [answers(message({"type": "text", "text": "So"}, stop=stop))]

    answer = await anthropic(provider).answer(TALK)

    assert (expected, "So") == (answer.stopped, answer.text)


async def test_anthropic_streams(provider: Provider) -> None:
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

    pieces = [piece async for piece in anthropic(provider).stream(TALK)]

    assert ["Hel", "lo"] == pieces


def openai_error(code: str | None, text: str = "It failed.") -> dict[str, object]:
    return {"error": {"message": text, "type": "invalid_request_error", "code": code}}


def anthropic_error(kind: str, text: str = "It failed.") -> dict[str, object]:
    return {"type": "error", "error": {"type": kind, "message": text}}


BUSY = {"Retry-After": "7"}


@pytest.mark.parametrize("opened", [openai, anthropic])
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
    opened: Callable[[Provider], Any],
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


@pytest.mark.parametrize("opened", [openai, anthropic])
async def test_nobody_there_is_unavailable(opened: Callable[[Provider], Any]) -> None:
    """A refused connection may pass."""
    server = Provider()
    model = opened(server)
    server.server_close()

    with pytest.raises(ModelUnavailableError, match="tiny"):
        await model.answer(TALK)


@pytest.mark.parametrize("opened", [openai, anthropic])
async def test_an_answer_that_is_no_answer_is_a_model_error(
    provider: Provider, opened: Callable[[Provider], Any]
) -> None:
    """A login page with status 200, as proxies send it."""
    provider.acts = [answers("<html>Log in</html>")]

    with pytest.raises(ModelError):
        await opened(provider).answer(TALK)


@pytest.mark.parametrize("opened", [openai, anthropic])
async def test_a_drip_does_not_outlast_the_deadline(
    provider: Provider, opened: Callable[..., Any]
) -> None:
    """A byte now and then keeps every read timeout from passing, but not the whole deadline."""
    provider.acts = [drips]

    with pytest.raises(ModelUnavailableError, match=r"within 0\.3 s"):
        await opened(provider, timeout_s=0.3).answer(TALK)


async def gather(stream: AsyncIterator[str], pieces: list[str]) -> None:
    """Add what *stream* yields to *pieces*, where it stays if the stream fails."""
    async for piece in stream:
        pieces.append(piece)  # noqa: PERF401  # a list of all would be lost with the error


async def test_a_stream_that_drips_does_not_outlast_the_deadline(provider: Provider) -> None:
    """What came before it stays yielded."""
    provider.acts = [drips_stream]
    pieces: list[str] = []

    with pytest.raises(ModelUnavailableError, match=r"within 0\.3 s"):
        await gather(openai(provider, timeout_s=0.3).stream(TALK), pieces)

    assert {"a"} == set(pieces)


async def test_a_stream_may_fail_in_its_middle(provider: Provider) -> None:
    """An event that says so is a failure like any other."""
    provider.acts = [
        streams(chunk(content="Hel"), {"error": {"type": "server_error", "message": "Crashed"}})
    ]
    pieces: list[str] = []

    with pytest.raises(ModelUnavailableError, match="Crashed"):
        await gather(openai(provider).stream(TALK), pieces)

    assert ["Hel"] == pieces


async def test_a_stream_may_be_left(provider: Provider) -> None:
    """A reader who has seen enough closes it; nothing is left open."""
    provider.acts = [drips_stream]
    stream = openai(provider).stream(TALK)

    first = await anext(stream)
    await stream.aclose()

    assert first == "a"


@pytest.mark.parametrize("opened", [openai, anthropic])
@pytest.mark.parametrize("status", [400, 401, 500])
async def test_no_message_shows_the_key(
    provider: Provider,
    opened: Callable[[Provider], Any],
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
async def test_no_connection_outlives_its_answer(
    provider: Provider, opened: Callable[[Provider], Any]
) -> None:
    """The clients are shared by all loops of a process; a kept connection belongs to one."""
    provider.acts = [answers(completion({"content": "Hi"}) | message())]

    await opened(provider).answer(TALK)

    assert "close" == provider.seen[0][1]["connection"]


async def test_without_hiding_the_key_would_be_shown(
    provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mutant that the tests above must catch: an adapter that hides nothing."""
    monkeypatch.setattr("recollect.models.provider_errors.hidden", lambda text, _: text)
    provider.acts = [answers(openai_error(None, f"Incorrect API key provided: {KEY}."), 401)]

    with pytest.raises(ModelError) as failure:
        await openai(provider).answer(TALK)

    assert KEY in str(failure.value)


async def test_an_object_of_langchain_is_named_by_itself(provider: Provider) -> None:
    """Its class and model name make the identity; its own limit of tokens stays if lower."""
    from langchain_openai import ChatOpenAI
    from pydantic import SecretStr

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
