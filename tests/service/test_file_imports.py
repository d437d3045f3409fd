"""Files of other programs over HTTP: what the command line reads, within what the key may write."""

import gzip
import io
import json
import socket
import zipfile
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

import anyio
import httpx
import pytest

from recollect.importers import import_run
from recollect.server import uploaded_files
from recollect.server.http.scope_access import THREADS_MAX
from recollect.server.testing import Served

Connect = Callable[..., httpx.Client]
NewKey = Callable[..., str]
Start = Callable[..., Served]
on_every_store = pytest.mark.parametrize(
    "store", ["memory", "sqlite", "postgres", "redis"], indirect=True
)
CHAT = [
    {"role": "user", "content": "I moved to Oslo."},
    {"role": "assistant", "content": "How is it there?"},
]
ITEM = {
    "namespace": ["users", "ada"], "key": "home", "value": {"text": "Ada lives in Oslo"},
    "created_at": "2026-01-01T00:00:00Z", "updated_at": "2026-01-01T00:00:00Z",
}  # fmt: skip
FILE = {"content-type": "application/octet-stream"}


def sent(
    client: httpx.Client, content: bytes, scope: str, name: str = "chat.json", **query: Any
) -> httpx.Response:
    """Send a file."""
    return client.post(
        "/v1/import/file",
        params={"scope": scope, "name": name, **query},
        content=content,
        headers=FILE,
    )


def events(answer: httpx.Response) -> list[tuple[str, Any]]:
    """Return the events of an answer."""
    found = []
    for block in answer.text.split("\n\n"):
        lines = dict(each.split(": ", 1) for each in block.splitlines() if ": " in each)
        if "event" in lines:
            found.append((lines["event"], json.loads(lines["data"])))
    return found


def report(answer: httpx.Response) -> Any:
    """Return the report at the end of an import."""
    assert answer.is_success, answer.text
    name, told = events(answer)[-1]
    assert "done" == name, told
    return told


def zipped(name: str, content: bytes) -> bytes:
    """Return an archive of one file."""
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as archive:
        archive.writestr(name, content)
    return held.getvalue()


@on_every_store
def test_a_chat_is_kept_once_whichever_way_it_is_packed(client: httpx.Client) -> None:
    """Plain, .gz and .zip; the second import finds all of it there."""
    plain = json.dumps(CHAT).encode()
    packed = {
        "chat.json": plain, "packed.json.gz": gzip.compress(plain),
        "all.zip": zipped("conversation.json", plain),
    }  # fmt: skip
    for name, content in packed.items():
        first = report(sent(client, content, f"in {name}", name))
        again = report(sent(client, content, f"in {name}", name))

        assert (2, 0, 1) == (first["taken"], first["refused_count"], first["threads"]), first
        assert (0, 2) == (again["taken"], again["present"]), again
        threads = client.get("/v1/threads", params={"scope": f"in {name}"}).json()["threads"]
        assert [2] == [each["count"] for each in threads]


def test_progress_is_told_and_bad_rows_are_refused_alone(client: httpx.Client) -> None:
    """Each batch of 500 is told with its share of the file; a row that is none has its place."""
    rows = [json.dumps({"role": "user", "content": f"It is {each}."}) for each in range(1_200)]
    rows[700] = '{"nothing": 1}'
    answer = sent(client, "\n".join(rows).encode(), "in lines", "lines.jsonl", thread="long")

    told = events(answer)
    assert [500, 1_000, 1_200] == [each["rows"] for name, each in told if name == "progress"]
    assert all(0 < each["fraction"] <= 1 for name, each in told if name == "progress")
    done = report(answer)
    assert (1_199, 1) == (done["taken"], done["refused_count"])
    assert "701" in done["refused"][0]["place"]


@pytest.mark.parametrize("name", ["lines.jsonl", "chats.json", "chat.json", "chats.zip"])
def test_the_progress_is_that_of_the_rows(client: httpx.Client, name: str) -> None:
    """Also of a document on one line, which is read as a whole before its first row is stored."""
    chats = [[{"role": "user", "content": f"It is {each}."} for each in range(60)]] * 40
    flat = [message for chat in chats for message in chat]
    files = {
        "lines.jsonl": "\n".join(map(json.dumps, flat)).encode(),
        "chats.json": json.dumps(chats).encode(),
        "chat.json": json.dumps(flat).encode(),
        "chats.zip": zipped("conversations.json", json.dumps(chats).encode()),
    }

    told = events(sent(client, files[name], f"progress {name}", name))

    reached = [(each["rows"], each["fraction"]) for what, each in told if what == "progress"]
    assert [500, 1_000, 1_500, 2_000, 2_400] == [rows for rows, _ in reached]
    for rows, fraction in reached:
        assert rows / 2_400 == pytest.approx(fraction, abs=0.1), reached


def test_times_without_a_zone_are_read_in_the_zone_that_is_named(client: httpx.Client) -> None:
    """An unknown zone is refused before anything is kept."""
    row = {
        "conversation_id": "c", "message_id": "m", "timestamp": "2026-01-01 12:00:00",
        "speaker": "Ada", "role": "user", "text": "Noon.",
    }  # fmt: skip
    content = json.dumps(row).encode()
    done = report(sent(client, content, "zoned", "rows.jsonl", timezone="+08:00"))

    path = "/v1/threads/c/messages"
    (message,) = client.get(path, params={"scope": "zoned"}).json()["messages"]
    assert message["time"].startswith("2026-01-01T04:00:00")
    assert 1 == done["zoneless"]
    assert 422 == sent(client, content, "unzoned", timezone="Mars/Olympus").status_code


@pytest.mark.parametrize("may_below", [True, False])
def test_no_row_reaches_a_scope_that_the_key_may_not_write(
    connect: Connect, served: Served, new_key: NewKey, *, may_below: bool
) -> None:
    """A record of an export names a scope of its own and is refused; one below needs `below`."""
    scope = f"bound {may_below}"
    rights = ["read", "write", *(["below"] if may_below else [])]
    writer = connect(served, new_key(served, *rights, scope=(scope,)))
    record = {"kind": "thread", "scope": ["elsewhere"], "id": "t"}
    lines = "\n".join(map(json.dumps, (ITEM, record))).encode()

    done = report(writer.post("/v1/import/file", params={"name": "x"}, content=lines, headers=FILE))

    reasons = " ".join(each["reason"] for each in done["refused"])
    assert "record of an export" in reasons
    assert ("permission 'below'" in reasons) is not may_below
    assert [[], ["users", "ada"]][may_below] in (done["scopes"] or [[]])
    found = connect(served).get("/v1/scopes", params={"below": True}).json()["scopes"]
    assert not any("elsewhere" in each for each in found)
    assert ([scope, "users", "ada"] in found) is may_below


@pytest.mark.parametrize(
    ("status", "headers", "query"),
    [
        (415, {"content-type": "application/json"}, {}),
        (415, {**FILE, "content-encoding": "gzip"}, {}),
        (422, FILE, {"name": ""}),
        (403, FILE, {"restore_erased": True}),
    ],
)
def test_a_request_that_is_not_well_is_refused(
    connect: Connect, served: Served, new_key: NewKey, *, status: int, headers: Any, query: Any
) -> None:
    """Another form of body, a packed transfer, no name, and what only an administrator may."""
    writer = connect(served, new_key(served, "read", "write"))
    asked = {"name": "x", **query}
    answer = writer.post("/v1/import/file", params=asked, content=b"[]", headers=headers)

    assert status == answer.status_code


def test_an_import_may_take_longer_than_its_upload(
    starting: Start, connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The time limit is that of the body: the report comes however long the rows take."""
    kept = import_run.keep_batch

    async def slow(*args: Any) -> bool:
        await anyio.sleep(0.2)
        return await kept(*args)

    monkeypatch.setattr(uploaded_files, "keep_batch", slow)
    client = connect(starting(body_timeout_s=0.2))
    rows = [json.dumps({"role": "user", "content": f"It is {each}."}) for each in range(1_200)]

    done = report(sent(client, "\n".join(rows).encode(), "long", "lines.jsonl"))

    assert 1_200 == done["taken"]


def test_a_file_that_comes_slowly_is_refused(starting: Start) -> None:
    """Each part of an upload has the time limit of a body."""
    served = starting(body_timeout_s=0.2)
    address = urlsplit(served.url)
    head = [
        "POST /v1/import/file?name=x HTTP/1.1", "host: localhost", f"x-api-key: {served.key}",
        f"content-type: {FILE['content-type']}", "content-length: 10",
    ]  # fmt: skip
    with socket.create_connection((address.hostname, address.port), 20.0) as connection:
        connection.sendall("\r\n".join([*head, "", "["]).encode())

        assert connection.recv(65_536).startswith(b"HTTP/1.1 408")


def test_a_file_over_the_limit_is_refused(starting: Start, connect: Connect) -> None:
    """The limit is that of an import, and nothing of the file is kept."""
    client = connect(starting(import_bytes_max=1_000))

    assert 413 == sent(client, b" " * 2_000, "large").status_code


def test_a_report_names_the_first_threads(client: httpx.Client) -> None:
    """Where the messages are now, so that a page can lead there; the count covers all."""
    rows = [
        {"conversation_id": f"c{number}", "message_id": "m", "role": "user", "text": "Hello."}
        for number in range(THREADS_MAX + 3)
    ]
    content = "\n".join(map(json.dumps, rows)).encode()
    done = report(sent(client, content, "named", "chats.jsonl"))
    listed = client.get("/v1/threads", params={"scope": "named"}).json()["threads"]

    assert THREADS_MAX + 3 == done["threads"] == len(listed)
    assert THREADS_MAX == len(done["first_threads"])
    assert {"named"} == {segment for each in done["first_threads"] for segment in each["scope"]}
    assert {each["id"] for each in done["first_threads"]} <= {each["id"] for each in listed}


def test_a_file_that_cannot_be_read_says_so(client: httpx.Client) -> None:
    """An empty one is refused; one that breaks off is kept up to there."""
    assert 422 == sent(client, b"", "empty").status_code
    cut = gzip.compress(b"\n".join(json.dumps(each).encode() for each in CHAT * 400))[:-20]
    done = report(sent(client, cut, "cut", "cut.jsonl.gz"))

    assert done["is_cut"]
    assert done["refused_count"] >= 1


def test_rows_that_are_let_through_unguarded_are_found(
    connect: Connect, served: Served, new_key: NewKey, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mutant: every row admitted, whatever scope it names."""
    monkeypatch.setattr(uploaded_files, "_admitted", lambda rows, **_: rows)
    writer = connect(served, new_key(served, "read", "write", scope=("mutant",)))
    content = json.dumps(ITEM).encode()
    done = report(
        writer.post("/v1/import/file", params={"name": "x"}, content=content, headers=FILE)
    )

    assert "permission 'below'" not in str(done["refused"])
