"""The page about models of one's own: its examples ask an endpoint in each provider's wire form."""

import importlib.util
import io
import json
import re
import runpy
import threading
from collections.abc import Iterator
from contextlib import redirect_stdout
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final

import pytest

PAGE: Final = Path(__file__).parents[2] / "docs" / "models.md"
BLOCK: Final = re.compile(
    r"^## (?P<title>[^\n]+)$|^```python[^\n]*\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL
)
WRONG: Final = {"value": {"home": "Oslo"}, "because": ["1 /home: I moved to Oslo"]}
RIGHT: Final = {"value": {"home": "Oslo"}, "because": ["1 /home: I live in Oslo"]}
FORMED: Final = "formed \n{'home': 'Oslo'} I live in Oslo\n"
PROVIDERS: Final = {
    "OpenAI's SDK": "openai",
    "Anthropic's SDK": "anthropic",
    "Ollama": "httpx",
    "llama.cpp's server": "httpx",
}
Json = dict[str, Any]


def examples() -> dict[str, str]:
    """Return the code of the page by its headings; the first is under none."""
    found: dict[str, str] = {}
    title = ""
    for match in BLOCK.finditer(PAGE.read_text("utf-8")):
        if match["title"]:
            title = match["title"]
        else:
            found[title] = match["body"]
    return found


def completion(arguments: Json, body: Json) -> Json:
    """Answer as OpenAI does: with a tool call, or with JSON where a schema is given."""
    message: Json = {"role": "assistant", "content": None}
    if "response_format" in body:
        schema = body["response_format"]["json_schema"]["schema"]
        assert "calls" in schema["properties"]
        call = {"tool": "User", "arguments": arguments}
        message["content"] = json.dumps({"calls": [call]})
    else:
        function = {"name": "User", "arguments": json.dumps(arguments)}
        message["tool_calls"] = [{"id": "call-1", "type": "function", "function": function}]
        assert "required" == body["tool_choice"]
        assert {"User", "Note"} <= {each["function"]["name"] for each in body["tools"]}
    return {
        "id": "c", "object": "chat.completion", "created": 1, "model": "tiny",
        "choices": [{"index": 0, "finish_reason": "stop", "message": message}],
        "usage": {"prompt_tokens": 40, "completion_tokens": 8, "total_tokens": 48},
    }  # fmt: skip


def message(arguments: Json, body: Json) -> Json:
    """Answer as Anthropic does."""
    assert {"type": "any"} == body["tool_choice"]
    assert all(each["input_schema"]["type"] == "object" for each in body["tools"])
    return {
        "id": "m", "type": "message", "role": "assistant", "model": "tiny",
        "content": [{"type": "tool_use", "id": "use-1", "name": "User", "input": arguments}],
        "stop_reason": "tool_use", "stop_sequence": None,
        "usage": {"input_tokens": 40, "output_tokens": 8},
    }  # fmt: skip


def chat(arguments: Json, body: Json) -> Json:
    """Answer as Ollama does."""
    assert body["format"]["required"] == ["calls"]
    assert body["stream"] is False
    content = json.dumps({"calls": [{"tool": "User", "arguments": arguments}]})
    return {
        "model": "tiny", "done": True, "done_reason": "stop",
        "message": {"role": "assistant", "content": content},
        "prompt_eval_count": 40, "eval_count": 8,
    }  # fmt: skip


ANSWERS: Final = {
    "/v1/chat/completions": completion,
    "/v1/messages": message,
    "/api/chat": chat,
}


@dataclass
class Provider(ThreadingHTTPServer):
    """An endpoint on loopback: *says* are the arguments of its answers, or statuses."""

    says: list[Json | int] = field(default_factory=list)
    seen: list[Json] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.daemon_threads = True
        super().__init__(("127.0.0.1", 0), Exchange)

    __hash__ = object.__hash__


class Exchange(BaseHTTPRequestHandler):
    """One request at the endpoint."""

    server: Provider

    def do_POST(self) -> None:
        """Note the request, and answer in the form of its path."""
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.server.seen.append(body)
        says = self.server.says.pop(0)
        if isinstance(says, int):
            status, answer = says, {"error": {"message": "slow down", "type": "rate_limit_error"}}
        else:
            status, answer = 200, ANSWERS[self.path](says, body)
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.end_headers()
        self.wfile.write(json.dumps(answer).encode())

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Stay silent."""


@pytest.fixture
def provider(monkeypatch: pytest.MonkeyPatch) -> Iterator[Provider]:
    """Serve all providers at one address, which their clients are told of as users tell them."""
    server = Provider()
    url = f"http://127.0.0.1:{server.server_address[1]}"
    monkeypatch.setenv("OPENAI_BASE_URL", f"{url}/v1")
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", url)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "none")
    monkeypatch.setenv("OLLAMA_HOST", url)
    monkeypatch.setenv("LLAMA_SERVER", url)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


def printed(title: str, folder: Path) -> str:
    """Run an example behind the first of the page, and return what it alone prints."""
    code = examples()
    program = folder / "example.py"
    program.write_text(f"{code['']}\nprint('---')\n{code[title]}", "utf-8")
    with redirect_stdout(io.StringIO()) as out:
        runpy.run_path(str(program))
    first, _, second = out.getvalue().partition("---\n")
    assert FORMED == first
    return second


def test_every_provider_of_the_page_is_asked_here() -> None:
    """A heading with an example is one of those below."""
    others = {"", "`async def` or `def`", "What it may return"}
    assert {*PROVIDERS} == set(examples()) - others


@pytest.mark.parametrize("title", PROVIDERS)
def test_an_example_forms_a_memory_and_repairs_it(
    title: str, provider: Provider, tmp_path: Path
) -> None:
    """The faulty call and what was wrong with it go back in the provider's own form."""
    if importlib.util.find_spec(PROVIDERS[title]) is None:
        pytest.skip(f"{PROVIDERS[title]} is not installed")
    provider.says += [WRONG, RIGHT]

    told = printed(title, tmp_path)

    first, second = map(json.dumps, provider.seen)
    assert FORMED == told
    assert "New messages:" in first
    assert "I moved to Oslo" in second
    assert "does not say" in second


@pytest.mark.parametrize("title", PROVIDERS)
def test_an_example_that_meets_a_busy_provider_waits(
    title: str, provider: Provider, tmp_path: Path
) -> None:
    """Its client asks once, and the messages wait."""
    if importlib.util.find_spec(PROVIDERS[title]) is None:
        pytest.skip(f"{PROVIDERS[title]} is not installed")
    provider.says += [429]

    told = printed(title, tmp_path)

    assert told.startswith("postponed ")
    assert "429" in told
    assert 1 == len(provider.seen)
