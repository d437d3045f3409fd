"""Appends and recalls that are answered directly are answered as FastAPI would, errors included."""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import httpx
import pytest

from recollect.server.http import fast_routes as direct
from recollect.server.testing import Served, serving

PATH = "/v1/threads/t/messages"
RECALL = "/v1/recall"
ASKED = {"query": "Where did we move?"}
EVERYTHING = {
    **ASKED,
    "limit": 3,
    "budget_tokens": 500,
    "below": False,
    "asked_at": "2026-06-01T00:00:00+02:00",
    "roles": ["user"],
    "render": True,
    "skip_question": True,
}
SAID = {"role": "user", "text": "We moved to Oslo.", "id": "m1", "time": "2026-05-01T00:00:00Z"}
FULL = {
    **SAID,
    "id": "m2",
    "name": "Ada",
    "session": "s",
    "source": "letter",
    "content": [{"type": "text", "text": "x", "n": 1.5, "big": 2**60}],
    "metadata": {"a": [None, True, {"b": "ü"}]},
}

DIRECT: Mapping[str, tuple[str, Any, dict[str, str]]] = {
    "one message": (PATH, {"messages": [SAID]}, {}),
    "everything": (PATH, {"messages": [FULL], "quiet_s": 5}, {"idempotency-key": "k"}),
    "a scope": (f"{PATH}?scope=users&scope=%C3%84da%20x", {"messages": [SAID]}, {}),
    "a thread with a space": ("/v1/threads/a%20b/messages", {"messages": [SAID]}, {}),
    "a role that is none": (PATH, {"messages": [{**SAID, "role": "tool", "text": ""}]}, {}),
    "no such assistant": (PATH, {"messages": [SAID], "assistant": "nobody"}, {}),
    "the id of another": (PATH, {"messages": [{**SAID, "text": "other"}]}, {}),
    "a recall": (RECALL, ASKED, {}),
    "recall with everything": (f"{RECALL}?scope=users&scope=%C3%84da%20x", EVERYTHING, {}),
    "a recall of a scope": (f"{RECALL}?scope=users&scope=%C3%84da", ASKED, {}),
    "a recall without words": (RECALL, {"query": " "}, {}),
    "a control character": ("/v1/threads/a%07b/messages", {"messages": [SAID]}, {}),
}
"""Good by their form; some of them are refused by the store or by what they name."""

OTHERS: Mapping[str, tuple[str, Any, dict[str, str]]] = {
    "no body": (PATH, None, {}),
    "no query": (RECALL, {"limit": 3}, {}),
    "a limit that is a text": (RECALL, {**ASKED, "limit": "many"}, {}),
    "an unknown field of a recall": (RECALL, {**ASKED, "mood": "good"}, {}),
    "an unknown parameter of a recall": (f"{RECALL}?scop=users", ASKED, {}),
    "no messages": (PATH, {"messages": []}, {}),
    "a list": (PATH, [SAID], {}),
    "an unknown field": (PATH, {"messages": [{**SAID, "mood": "good"}]}, {}),
    "an unknown role": (PATH, {"messages": [{**SAID, "role": "nobody"}]}, {}),
    "a text that is a number": (PATH, {"messages": [{**SAID, "text": 7}]}, {}),
    "a time without a zone": (PATH, {"messages": [{**SAID, "time": "2026-05-01T00:00:00"}]}, {}),
    "a long thread": (f"/v1/threads/{'a' * 600}/messages", {"messages": [SAID]}, {}),
    "an empty segment": (f"{PATH}?scope=", {"messages": [SAID]}, {}),
    "many segments": (f"{PATH}?{'&'.join(['scope=a'] * 40)}", {"messages": [SAID]}, {}),
    "an unknown parameter": (f"{PATH}?scop=users", {"messages": [SAID]}, {}),
    "an empty key": (PATH, {"messages": [SAID]}, {"idempotency-key": ""}),
    "a long key": (PATH, {"messages": [SAID]}, {"idempotency-key": "k" * 257}),
    "an empty thread": ("/v1/threads//messages", {"messages": [SAID]}, {}),
    "a thread that ends like the path": ("/v1/threads/t%2Fmessages", {"messages": [SAID]}, {}),
    "a path below": (f"{PATH}/m1", {"messages": [SAID]}, {}),
}


@pytest.fixture(scope="module")
def services() -> Iterator[tuple[Served, Served]]:
    """Run two services alike, of which the second leaves everything to FastAPI."""
    with serving() as found, serving() as slow:
        yield found, slow


def told(answer: httpx.Response) -> tuple[int, str, dict[str, Any]]:
    """Return what of an answer is not of its moment."""
    body = answer.json()
    body.pop("ms", None)
    # Entries of one score stand in the order of their numbers, which each service gives by chance.
    body.get("entries", []).sort(key=lambda each: (-each["score"], json.dumps(each)))
    if body.get("rendered"):
        body["rendered"] = re.sub(r"memory \w+", "memory", body["rendered"])
    return answer.status_code, answer.headers["content-type"], body


def answered(
    services: tuple[Served, Served],
    monkeypatch: pytest.MonkeyPatch,
    asked: tuple[str, Any, dict[str, str]],
) -> tuple[list[tuple[int, str, dict[str, Any]]], list[bool]]:
    """Return what both services answer, and whether the first did so directly."""
    path, body, headers = asked
    read: Callable[..., Any] = direct.read_fast_request
    seen: list[bool] = []

    def reading(scope: Any) -> Any:
        found = None if (is_slow := scope["app"] is services[1].app) else read(scope)
        if not is_slow:
            seen[:] = [found is not None]
        return found

    monkeypatch.setattr(direct, "read_fast_request", reading)
    answers = []
    for served in services:
        sent = {"x-api-key": served.key, "content-type": "application/json"}
        with httpx.Client(base_url=served.url, headers=sent) as client:
            client.post(PATH, json={"messages": [SAID]}).raise_for_status()
            content = None if body is None else json.dumps(body)
            answers.append(told(client.post(path, content=content, headers=headers)))
    return answers, seen


@pytest.mark.parametrize("name", sorted(DIRECT))
def test_what_is_answered_directly_is_answered_alike(
    services: tuple[Served, Served], monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """Status, type and body are those of FastAPI, for what is kept and for what is refused."""
    (fast, slow), seen = answered(services, monkeypatch, DIRECT[name])

    assert fast == slow
    assert [True] == seen


@pytest.mark.parametrize("name", sorted(OTHERS))
def test_what_is_not_plainly_good_is_left_to_fastapi(
    services: tuple[Served, Served], monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """It is answered with a problem, the same on either way."""
    (fast, slow), seen = answered(services, monkeypatch, OTHERS[name])

    assert fast == slow
    assert fast[0] >= 400
    assert [False] == seen


def test_a_stream_is_opened_directly(services: tuple[Served, Served]) -> None:
    """Good ones are not FastAPI's; a wrong place, or a long one, is refused with a problem."""
    served, _ = services
    with httpx.Client(base_url=served.url, headers={"x-api-key": served.key}) as client:
        with client.stream("GET", "/v1/changes?scope=a", headers={"last-event-id": ""}) as opened:
            first = next(opened.iter_text())
            kind = opened.headers["content-type"]
        ids = ("nowhere", "1:" + "2" * 70)
        refused = [client.get("/v1/changes", headers={"last-event-id": each}) for each in ids]

    assert (200, ": open\n\n") == (opened.status_code, first[:8])
    assert kind.startswith("text/event-stream")
    assert [422, 422] == [each.status_code for each in refused]
    assert {"usage"} == {each.json()["code"] for each in refused}


def test_a_key_that_may_only_read_is_refused(services: tuple[Served, Served]) -> None:
    """The permission is asked for before anything is kept, and a revoked key at once refused."""
    served, _ = services
    with httpx.Client(base_url=served.url, headers={"x-api-key": served.key}) as client:
        made = {"name": "reader", "permissions": ["read"]}
        reader = client.post("/v1/keys", json=made).json()
        writer = client.post("/v1/keys", json=made | {"permissions": ["write"]}).json()
        said = {"messages": [SAID | {"id": "m9"}]}

        def status(key: dict[str, Any]) -> int:
            # In a scope that no other test recalls: it stands in one of both services alone.
            path = "/v1/threads/t/messages?scope=alone"
            return client.post(path, json=said, headers={"x-api-key": key["key"]}).status_code

        assert [403, 201] == [status(reader), status(writer)]
        client.delete(f"/v1/keys/{writer['id']}").raise_for_status()
        assert 401 == status(writer)
