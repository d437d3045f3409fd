"""Compressed answers: the same words in fewer bytes, for those who ask, and never a stream."""

from collections.abc import Callable
from typing import Any

import httpx
import pytest

from recollect.server.http.compression import LEAST_BYTES
from recollect.server.testing import Served

Connect = Callable[..., httpx.Client]
Start = Callable[..., Served]
PACKED = {"accept-encoding": "gzip"}
PLAIN = {"accept-encoding": "identity"}
MESSAGES = "/v1/threads/talk/messages"


@pytest.fixture
def filled(starting: Start, connect: Connect) -> httpx.Client:
    """Return a client of a scope with a long thread, and one memory of many words."""
    client = connect(starting())
    for at in range(4):
        words = [f"message {at} {n}: the ferry to Turku leaves at nine" for n in range(100)]
        body = {"messages": [{"role": "user", "text": each} for each in words]}
        assert 201 == client.post(MESSAGES, json=body).status_code
    value = {"context": "long", "content": "many words " * 300}
    assert 201 == client.put("/v1/memories/Note/long", json={"value": value}).status_code
    return client


@pytest.mark.parametrize("limit", [20, 200])
def test_an_answer_is_compressed_for_who_asks(filled: httpx.Client, limit: int) -> None:
    """The same words either way, whether packed on the loop (20) or in a thread (200)."""
    plain = filled.get(MESSAGES, params={"limit": limit}, headers=PLAIN)
    packed = filled.get(MESSAGES, params={"limit": limit}, headers=PACKED)
    refused = filled.get(MESSAGES, params={"limit": limit}, headers={"accept-encoding": "gzip;q=0"})

    assert plain.content == packed.content == refused.content
    assert "gzip" == packed.headers["content-encoding"]
    assert int(packed.headers["content-length"]) < len(plain.content) / 3
    assert "content-encoding" not in plain.headers.keys() | refused.headers.keys()
    assert {"accept-encoding"} == {each.headers["vary"] for each in (plain, packed, refused)}


def test_a_short_answer_is_sent_as_it_is(filled: httpx.Client) -> None:
    """Nothing is won where one packet is enough."""
    answer = filled.get("/v1/me", headers=PACKED)

    assert len(answer.content) < LEAST_BYTES
    assert not {"content-encoding", "vary"} & answer.headers.keys()


def test_the_version_that_was_read_compressed_may_be_written(filled: httpx.Client) -> None:
    """The tag is the memory's version, for If-Match, however the answer was sent."""
    packed = filled.get("/v1/memories/Note/long", headers=PACKED)
    plain = filled.get("/v1/memories/Note/long", headers=PLAIN)
    change: dict[str, Any] = {"value": {"context": "long", "content": "few"}}

    assert "gzip" == packed.headers["content-encoding"]
    assert plain.headers["etag"] == packed.headers["etag"]
    headers = {"if-match": packed.headers["etag"]}
    assert 200 == filled.put("/v1/memories/Note/long", json=change, headers=headers).status_code


def test_a_stream_is_never_held_back(filled: httpx.Client) -> None:
    """An export and the changes come piece by piece, uncompressed."""
    exported = filled.get("/v1/export", headers=PACKED)
    with filled.stream("GET", "/v1/changes", headers=PACKED) as changes:
        first = next(changes.iter_raw())

    assert len(exported.content) > LEAST_BYTES
    assert "content-encoding" not in exported.headers.keys() | changes.headers.keys()
    assert first.startswith(b": open")
