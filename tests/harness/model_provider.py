"""A provider of models on loopback that does, request by request, what a test told it to."""

import json
import re
import socket
import struct
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from zlib import crc32

DRIPS = 150  # far beyond every deadline of a test, and not for ever

Act = Callable[["Exchange"], None]


class Exchange(BaseHTTPRequestHandler):
    """One request at the provider, and what is done with it."""

    protocol_version = "HTTP/1.1"
    server: "Provider"

    def do_POST(self) -> None:
        """Note the request; do what is next."""
        length = int(self.headers.get("content-length", 0))
        body = json.loads(self.rfile.read(length) or b"{}")
        heard = {name.lower(): value for name, value in self.headers.items()}
        self.server.seen.append((self.path, heard, body))
        self.close_connection = True
        self.server.acts.pop(0)(self)

    do_GET = do_POST  # noqa: N815  # as a redirect is followed

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
        """Return its address."""
        return f"http://127.0.0.1:{self.server_address[1]}"


@contextmanager
def provider_on_loopback() -> Iterator[Provider]:
    """Serve a `Provider` on a thread of its own."""
    server = Provider()
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.is_over.set()
        server.shutdown()
        server.server_close()
        thread.join()


def answers(body: object, status: int = 200, headers: Mapping[str, str] | None = None) -> Act:
    """Answer with JSON."""

    def act(exchange: Exchange) -> None:
        exchange.begin(status, "application/json", headers or {})
        exchange.wfile.write(json.dumps(body).encode())

    return act


def streams(*events: object, kind: str = "") -> Act:
    """Answer with a stream of events."""

    def act(exchange: Exchange) -> None:
        exchange.begin(200, "text/event-stream", {})
        for event in events:
            name = f"event: {event['type']}\n" if isinstance(event, dict) and kind else ""
            text = event if isinstance(event, str) else json.dumps(event)
            exchange.wfile.write(f"{name}data: {text}\n\n".encode())
            exchange.wfile.flush()

    return act


def page(status: int = 200, title: str = "Log in") -> Act:
    """Answer with a web page, as proxies do."""

    def act(exchange: Exchange) -> None:
        exchange.begin(status, "text/html; charset=utf-8", {})
        text = f"<!DOCTYPE html><html><head><title>{title}</title></head><body>Hi</body></html>"
        exchange.wfile.write(text.encode())

    return act


def breaks_off(body: object) -> Act:
    """Send the first half of an answer, and close the connection as if that were all."""

    def act(exchange: Exchange) -> None:
        exchange.begin(200, "application/json", {})
        text = json.dumps(body)
        exchange.wfile.write(text[: len(text) // 2].encode())

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
    """Send a piece of an answer now and then, and never the last."""
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
    """Return a streamed piece as OpenAI sends it."""
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


def embeds(dimensions: int = 8, *, characters_max: int = 10_000) -> Act:
    """Answer with vectors that texts of the same words share, last text first."""

    def act(exchange: Exchange) -> None:
        texts = exchange.server.seen[-1][2]["input"]
        if any(len(text) > characters_max for text in texts):
            answers({"error": {"message": "input is too long"}}, 400)(exchange)
            return
        data = [
            {"object": "embedding", "index": place, "embedding": hashed(text, dimensions)}
            for place, text in enumerate(texts)
        ]
        answers({"object": "list", "model": "m", "data": data[::-1], "usage": {}})(exchange)

    return act


def hashed(text: str, dimensions: int) -> list[float]:
    """Return a vector of how often words fall into each of *dimensions* places."""
    vector = [0.01] * dimensions
    for word in re.findall(r"\w+", text.lower()):
        vector[crc32(word.encode()) % dimensions] += 1.0
    return vector
