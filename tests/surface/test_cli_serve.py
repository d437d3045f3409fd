"""`recollect serve`: it starts, says where it is, gives one key, and stops well."""

import os
import pty
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from recollect.errors import EXIT_STATUS
from recollect.server.http.static_page import STATIC, is_built
from tests.harness.installed_servers import require_empty_database, require_redis

DATABASE = 10
needs_page = pytest.mark.skipif(not is_built(STATIC), reason="the page is not built: `make page`")
LINE_S_MAX = 60.0
ADDRESS_LINES_MAX = 8


@contextmanager
def process(
    folder: Path, *arguments: str, command: str = "serve", **variables: str
) -> Iterator[subprocess.Popen[str]]:
    """Run `recollect serve`, or another *command* that serves, in a folder."""
    environment = {
        name: each
        for name, each in os.environ.items()
        if not name.startswith("RECOLLECT_") and name not in {"DISPLAY", "WAYLAND_DISPLAY"}
    } | {"XDG_DATA_HOME": str(folder), **variables}
    program = [sys.executable, "-m", "recollect", command, "--port", "0", "--embedder", "none"]
    with subprocess.Popen(
        [*program, *arguments],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as found:
        watch = threading.Timer(LINE_S_MAX, found.kill)
        watch.start()
        try:
            yield found
        finally:
            watch.cancel()
            found.kill()


def line_with(stream: Iterator[str], pattern: str) -> str:
    """Return what *pattern* finds in the first line that has it."""
    for line in stream:
        found = re.search(pattern, line)
        if found:
            return found[1]
    pytest.fail(f"no line had {pattern!r}")


@pytest.fixture(params=["sqlite", "postgres", "redis"])
def store(request: pytest.FixtureRequest) -> list[str]:
    """Return the option that names an empty store; without one it is a file in the folder."""
    if request.param == "sqlite":
        return []
    if request.param == "redis":
        server = require_redis()
        return ["--store", server.emptied(DATABASE)]
    url = require_empty_database("serve")
    return ["--store", url]


def test_it_serves_gives_one_key_and_stops_well(tmp_path: Path, store: list[str]) -> None:
    """The key of the first start opens it, also after a second; SIGTERM ends it with status 0."""
    with process(tmp_path, *store) as first:
        assert first.stdout is not None
        assert first.stderr is not None
        url = line_with(first.stderr, r"at (http://\S+)")
        key = line_with(first.stdout, r"(rk_\S+)")
        body = {"messages": [{"role": "user", "text": "I live in Oslo."}]}
        kept = httpx.post(
            f"{url}/v1/threads/t/messages", json=body, headers={"authorization": f"Bearer {key}"}
        ).status_code
        first.send_signal(signal.SIGTERM)
        left, logged = first.communicate(timeout=LINE_S_MAX)
    with process(tmp_path, *store) as second:
        assert second.stderr is not None
        url = line_with(second.stderr, r"at (http://\S+)")
        line_with(second.stderr, r'"event": "(started)"')
        answer = httpx.get(f"{url}/v1/threads/t/messages", headers={"x-api-key": key})
        found = answer.json()["messages"]
        second.send_signal(signal.SIGTERM)
        again, _ = second.communicate(timeout=LINE_S_MAX)

    assert (201, 0, 0) == (kept, first.returncode, second.returncode)
    assert ["I live in Oslo."] == [each["text"] for each in found]
    assert "" == left
    assert "" == again
    assert "/v1/threads/{thread}/messages" in logged
    assert "Oslo" not in logged
    assert key not in logged


def test_it_serves_where_uvloop_does_not_exist(tmp_path: Path) -> None:
    """As on Windows: on the event loop of Python itself, and it ends as well."""
    tmp_path.joinpath("uvloop.py").write_text("raise ImportError('no uvloop here')\n", "utf-8")
    with process(tmp_path, "--no-auth", PYTHONPATH=str(tmp_path)) as running:
        assert running.stderr is not None
        url = line_with(running.stderr, r"at (http://\S+)")
        line_with(running.stderr, r'"event": "(started)"')
        told = httpx.get(f"{url}/v1/health").json()["status"]
        running.send_signal(signal.SIGTERM)
        running.communicate(timeout=LINE_S_MAX)

    assert ("ok", 0) == (told, running.returncode)


def test_without_a_store_it_uses_one_of_the_user(tmp_path: Path) -> None:
    """It says where, and the folder is the user's alone; a store where it is started goes first."""
    places = []
    for _ in range(2):
        with process(tmp_path, "--no-auth") as running:
            assert running.stderr is not None
            places.append(line_with(running.stderr, r"serving (\S+) at"))
            line_with(running.stderr, r'"event": "(started)"')
            running.send_signal(signal.SIGTERM)
            running.communicate(timeout=LINE_S_MAX)
        tmp_path.joinpath("recollect.db").touch()

    folder = tmp_path / "recollect"
    assert [str(folder / "recollect.db"), "./recollect.db"] == places
    assert 0o700 == folder.stat().st_mode & 0o777


@pytest.mark.parametrize(
    ("options", "notices"), [((), 1), (("--model", "rules"), 0), (("--no-worker",), 0)]
)
def test_it_says_if_nothing_is_formed(
    tmp_path: Path, options: tuple[str, ...], notices: int
) -> None:
    """In one line, if no model is given; not if another process forms."""
    with process(tmp_path, "--no-auth", "--store", "memory:", *options) as running:
        assert running.stderr is not None
        lines = []
        for line in running.stderr:
            lines.append(line)
            if '"event": "started"' in line:
                break
        running.send_signal(signal.SIGTERM)
        running.communicate(timeout=LINE_S_MAX)

    told = [each for each in lines if "recollect serve --model" in each]
    assert notices == len(told)
    assert all("no memories are formed" in each for each in told)


def test_a_scope_that_no_key_opens_is_refused(tmp_path: Path) -> None:
    """Not ignored, once a key is bound to another; the same command line starts again."""
    ends = []
    for scope in ("acme", "acme", "globex"):
        with process(tmp_path, "--scope", scope) as running:
            assert running.stderr is not None
            told = ""
            for line in running.stderr:
                told += line
                if '"event": "started"' in line:
                    running.send_signal(signal.SIGTERM)
            running.wait(LINE_S_MAX)
            ends.append((running.returncode, told))

    assert [0, 0, EXIT_STATUS["usage"]] == [status for status, _ in ends]
    assert [True, True, False] == ["serving " in told for _, told in ends]
    assert "recollect keys create NAME --scope globex" in ends[-1][1]
    assert "Traceback" not in ends[-1][1]


@needs_page
def test_the_page_shows_the_only_memory_of_a_store(tmp_path: Path) -> None:
    """Without a scope the page shows what there is, and the first key opens its tenant."""
    kept = ["demo", "--keep", "demo.db", "--embedder", "none"]
    program = [sys.executable, "-m", "recollect", *kept]
    subprocess.run(program, cwd=tmp_path, check=True, capture_output=True)
    with process(tmp_path, "--open", "--store", "demo.db", "--model", "rules") as running:
        assert running.stdout is not None
        first = line_with(running.stdout, r"first key.*(rk_\S+)")
        url, _, key = line_with(running.stdout, r"(http://\S+/#key=\S+)").partition("/#key=")
        prefixes = [
            httpx.get(f"{url}/v1/me", headers={"x-api-key": each}).json()["prefix"]
            for each in (first, key)
        ]
        running.send_signal(signal.SIGTERM)
        running.communicate(timeout=LINE_S_MAX)

    assert [["demo"], ["demo", "mira"]] == prefixes


def test_an_open_stream_does_not_hold_it_up(tmp_path: Path) -> None:
    """A reader of changes is let go when the service is told to end."""
    with process(tmp_path, "--no-auth") as running:
        assert running.stderr is not None
        url = line_with(running.stderr, r"at (http://\S+)")
        line_with(running.stderr, r'"event": "(started)"')
        with httpx.stream("GET", f"{url}/v1/changes", timeout=LINE_S_MAX) as stream:
            lines = stream.iter_lines()
            next(lines)
            running.send_signal(signal.SIGTERM)
            rest = list(lines)
        running.communicate(timeout=LINE_S_MAX)

    assert 0 == running.returncode
    assert rest[0].startswith(("", "id"))


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("--no-auth", "--host", "0.0.0.0"), "open to other machines"),  # noqa: S104
        (("--origin", "nowhere"), "is not an origin"),
        (("--port", "99999"), "from 0 to 65535"),
        (("--scope", "recollect:service"), "reserved for the service"),
    ],
)
def test_what_is_not_safe_does_not_start(
    tmp_path: Path, arguments: tuple[str, ...], reason: str
) -> None:
    """It ends with status 2 and one sentence, before it opens a store."""
    with process(tmp_path, *arguments) as running:
        _, told = running.communicate(timeout=LINE_S_MAX)

    assert 2 == running.returncode
    assert reason in told
    assert "Traceback" not in told
    assert [] == list(tmp_path.iterdir())


def test_a_file_sets_it_up(tmp_path: Path) -> None:
    """The table [service] of a configuration file is read, and refused where it is wrong."""
    tmp_path.joinpath("service.toml").write_text('[service]\nsecret = "weak"\n', "utf-8")

    with process(tmp_path, "--config", "service.toml") as running:
        _, told = running.communicate(timeout=LINE_S_MAX)

    assert 2 == running.returncode
    assert "too weak" in told


def browser_in(folder: Path) -> dict[str, str]:
    """Return the environment of somebody whose browser writes the address into a file."""
    script = folder / "browser"
    script.write_text(f'#!/bin/sh\necho "$1" > {folder}/part && mv {folder}/part {folder}/opened\n')
    script.chmod(0o755)
    return {"DISPLAY": ":9", "BROWSER": f"{script} %s"}


def wait_for(path: Path) -> str:
    """Return what a file holds as soon as it is there."""
    waiting = threading.Event()
    for _ in range(int(LINE_S_MAX * 10)):
        if path.exists():
            return path.read_text("utf-8").strip()
        waiting.wait(0.1)
    pytest.fail(f"there is no {path.name}")


@needs_page
def test_the_page_is_opened_signed_in_until_the_service_ends(tmp_path: Path) -> None:
    """The key is in the fragment, is in no log, and is no good after the service has stopped."""
    with process(tmp_path, "--open", **browser_in(tmp_path)) as first:
        assert first.stdout is not None
        lasting = line_with(first.stdout, r"first key.*(rk_\S+)")
        shown = line_with(first.stdout, r"(http://\S+/#key=\S+)")
        opened = wait_for(tmp_path / "opened")
        url, _, key = opened.partition("/#key=")
        me = httpx.get(f"{url}/v1/me", headers={"x-api-key": key}).json()
        first.send_signal(signal.SIGTERM)
        _, logged = first.communicate(timeout=LINE_S_MAX)
    with process(tmp_path) as second:
        assert second.stderr is not None
        url = line_with(second.stderr, r"at (http://\S+)")
        line_with(second.stderr, r'"event": "(started)"')
        answers = [
            httpx.get(f"{url}/v1/me", headers={"x-api-key": each}).status_code
            for each in (key, lasting)
        ]

    assert shown == opened
    assert ["default"] == me["prefix"]
    assert key not in logged
    assert [401, 200] == answers


@needs_page
def test_without_a_display_the_address_is_printed_and_nothing_is_opened(tmp_path: Path) -> None:
    """A browser of text would take the terminal."""
    variables = browser_in(tmp_path) | {"DISPLAY": ""}
    with process(tmp_path, "--open", "--no-auth", **variables) as running:
        assert running.stdout is not None
        shown = line_with(running.stdout, r"(http://\S+)")
        running.send_signal(signal.SIGTERM)
        running.communicate(timeout=LINE_S_MAX)

    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/", shown)
    assert not tmp_path.joinpath("opened").exists()


def test_a_store_that_cannot_be_opened_is_one_sentence(tmp_path: Path) -> None:
    """It has the exit status of its error, and no traceback."""
    tmp_path.joinpath("recollect.db").write_text("this is no database", "utf-8")

    with process(tmp_path, "--store", "recollect.db") as running:
        _, told = running.communicate(timeout=LINE_S_MAX)

    assert EXIT_STATUS["corrupt"] == running.returncode
    assert "is not a database" in told.splitlines()[-1]
    assert "Traceback" not in told


@needs_page
def test_the_demonstration_ends_in_the_browser(tmp_path: Path) -> None:
    """Signed in, on its scope and with its types, and what is typed is formed and remembered."""
    with process(tmp_path, "--serve", command="demo", **browser_in(tmp_path)) as running:
        url, _, key = wait_for(tmp_path / "opened").partition("/#key=")
        with httpx.Client(base_url=url, headers={"x-api-key": key}, timeout=30) as client:
            me = client.get("/v1/me").json()
            types = client.get("/v1/types").json()["types"]
            known = client.get("/v1/memories", params={"type": "Fact"}).json()["memories"]
            answer = client.post("/v1/chat", json={"text": "Where do I live?", "thread": "t"})
        running.send_signal(signal.SIGINT)
        told, logged = running.communicate(timeout=LINE_S_MAX)

    assert (["demo", "mira"], "rules/1", True) == (me["prefix"], me["model"], me["temporary"])
    assert ["User", "Fact", "Note", "Instructions"] == [each["name"] for each in types]
    assert "Mira lives in Porto, Rua das Amoreiras 18" in {each["text"] for each in known}
    assert "Porto" in answer.text
    assert "82 messages in 3 threads" in told
    # The address is in sight: no story stands above it.
    above, _, _ = told.partition("http://")
    assert len(above.splitlines()) <= ADDRESS_LINES_MAX
    assert "5. Forget" not in told
    assert told.rstrip().endswith("changes made in it are not kept.")
    assert "first key" not in told
    assert 0 == running.returncode, logged


def test_at_a_terminal_the_key_and_the_address_stand_alone(tmp_path: Path) -> None:
    """`--open` logs each task where standard error is read by a program, and not to a person."""
    here, there = pty.openpty()
    program = [sys.executable, "-m", "recollect", "serve", "--port", "0", "--embedder", "none"]
    with subprocess.Popen(
        [*program, "--open", "--model", "rules", "--store", str(tmp_path / "t.db")],
        cwd=tmp_path,
        env=os.environ | {"XDG_DATA_HOME": str(tmp_path), "DISPLAY": "", "WAYLAND_DISPLAY": ""},
        stdout=subprocess.PIPE,
        stderr=there,
        text=True,
    ) as found:
        watch = threading.Timer(LINE_S_MAX, found.kill)
        watch.start()
        os.close(there)
        assert found.stdout is not None
        assert line_with(found.stdout, r"(first key, shown this once: rk_)")
        found.send_signal(signal.SIGTERM)
        found.wait()
        watch.cancel()
    told = b""
    while part := read_end(here):
        told += part

    assert b"serving " in told
    assert b'"event"' not in told


def read_end(terminal: int) -> bytes:
    """Return what a terminal still has; at its end Linux answers with an error."""
    try:
        return os.read(terminal, 65_536)
    except OSError:
        os.close(terminal)
        return b""
