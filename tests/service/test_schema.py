"""Requests made at random from /openapi.json are answered as it says, and meet no fault."""

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager
from typing import Any, cast

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from pydantic import ValidationError
from schemathesis.checks import not_a_server_error
from schemathesis.core.failures import FailureGroup
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

import recollect
from recollect.formation.rule_model import RuleModel
from recollect.memory.facade import Recollect
from recollect.server.http import scope_access as reaching
from recollect.server.http.api_operations import OPERATIONS
from recollect.server.http.openapi import operations
from recollect.server.schemas.elements import ResponseModel
from recollect.server.testing import Served, serving

Connect = Callable[..., httpx.Client]
SAMPLE = 20
PROVEN = 10_000
PROBLEM = "application/problem+json"
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]
# What stands in the store: half of the requests name it.
KNOWN = {
    "thread": "t",
    "message": "m",
    "type": "Note",
    "key": "k",
    "thread_id": "7f3c2a56-58d5-4d4a-9f64-5a37d3c0a001",
}
NO_NAME = re.compile(r"^\.{0,2}$")


@schemathesis.serializer("application/x-ndjson")
def lines(_: object, value: Any) -> bytes:
    """Return a body of JSON Lines: whatever text was generated."""
    return str(value).encode("utf-8", "replace")


@pytest.fixture(scope="module")
def formed() -> Iterator[Served]:
    """Run a service with a model and a worker: a request may wait for what the worker forms."""

    def opened() -> AbstractAsyncContextManager[Recollect]:
        return recollect.open("memory:", embedder="none", model=RuleModel())

    with serving(opened, model=RuleModel()) as found:
        yield found


def filled(client: httpx.Client) -> Mapping[str, str]:
    """Keep what the requests that are made can find, and return by which names."""
    said = {"messages": [{"role": "user", "text": "I moved to Oslo", "id": "m"}]}
    client.post("/v1/threads/t/messages", json=said).raise_for_status()
    note = {"value": {"context": "home", "content": "Ada lives in Oslo"}}
    client.put("/v1/memories/Note/k", json=note).raise_for_status()
    fact = {"value": {"subject": "Ada", "predicate": "knows", "object": "Bob"}}
    client.put("/v1/memories/Fact/f", json=fact).raise_for_status()
    thread = {"thread_id": KNOWN["thread_id"], "if_exists": "do_nothing"}  # of an earlier test
    client.post("/threads", json=thread).raise_for_status()
    client.post("/v1/form").raise_for_status()
    listed = client.get("/v1/formations").raise_for_status().json()["formations"]
    return {**KNOWN, "formation": listed[0]["id"]}


class Walk:
    """Makes requests to each operation in turn, and holds the answers to the document."""

    def __init__(
        self, client: httpx.Client, document: Mapping[str, Any], known: Mapping[str, str] = KNOWN
    ) -> None:
        self.statuses: Counter[int] = Counter()
        self.wrong: list[str] = []
        self.answered: set[tuple[str, str]] = set()
        """The operations that succeeded once at least."""
        self._client = client
        self._known = known
        schema = schemathesis.openapi.from_dict(dict(document))
        self._operations = [each.ok() for each in cast("Any", schema.get_all_operations())]

    @property
    def made(self) -> int:
        """Return how many requests were made."""
        return sum(self.statuses.values())

    def go(self, count: int, *, below: str = "/") -> None:
        """Make *count* requests at least, alike to all operations *below* a path."""
        meant = [each for each in self._operations if each.path.startswith(below)]
        while self.made < count:
            share = math.ceil((count - self.made) / len(meant))
            for operation in meant:
                self._walk(operation, share, seed_=7 + self.made)

    def _walk(self, operation: Any, count: int, *, seed_: int) -> None:
        modes = list(schemathesis.GenerationMode)
        strategies = st.one_of([operation.as_strategy(generation_mode=each) for each in modes])

        @seed(seed_)
        @settings(
            max_examples=count,
            phases=[Phase.generate],
            database=None,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        )
        @given(case=strategies, is_known=st.booleans())
        def walk(case: Any, *, is_known: bool) -> None:
            if is_known and case.path_parameters:
                for name in case.path_parameters.keys() & self._known.keys():
                    case.path_parameters[name] = self._known[name]
            self._make(case)

        walk()

    def _make(self, case: Any) -> None:
        try:
            answer = sent(self._client, case)
        except httpx.TimeoutException as error:
            error.add_note(f"{case.method} {case.formatted_path} {case.query} {case.body!r:.300}")
            raise
        if answer is None:
            return
        self.statuses[answer.status_code] += 1
        if answer.is_success:
            self.answered.add((case.method.lower(), case.operation.path))
        # Such a name does not reach its route, whatever the route answers.
        if answer.status_code in {404, 405} and is_elsewhere(case):
            return
        if answer.is_error and answer.headers.get("content-type") != PROBLEM:
            self.wrong.append(f"{case.method} {case.formatted_path}: {answer.text[:80]}")
        try:
            case.validate_response(answer, checks=CHECKS)
        except FailureGroup as failed:
            told = "; ".join(str(each)[:300] for each in failed.exceptions)
            self.wrong.append(f"{case.method} {case.formatted_path} {answer.status_code}: {told}")


def is_elsewhere(case: Any) -> bool:
    """Return True if a name in a path makes it another path."""
    return any(NO_NAME.search(str(each)) for each in (case.path_parameters or {}).values())


def sent(client: httpx.Client, case: Any) -> httpx.Response | None:
    """Return what a case is answered; ``None`` if no client could send it."""
    parts = case.as_transport_kwargs(base_url=str(client.base_url))
    headers = {name: each for name, each in (parts.get("headers") or {}).items() if each}
    for name in ("x-api-key", "authorization", "X-Api-Key", "Authorization", "Host", "Origin"):
        headers.pop(name, None)
    given_ = {"content" if name == "data" else name: each for name, each in parts.items()}
    try:
        request = client.build_request(
            given_["method"],
            given_["url"],
            params=given_.get("params"),
            headers=headers,
            **{name: given_[name] for name in ("json", "content") if name in given_},
        )
        answer = client.send(request, stream=True)
    except (httpx.InvalidURL, httpx.LocalProtocolError, UnicodeEncodeError, TypeError, ValueError):
        return None
    is_endless = case.operation.path == "/v1/changes" and answer.is_success
    # Of what streams without an end the head is all that there is to wait for.
    told = b"" if is_endless else answer.read()
    answer.close()
    # `read` has unpacked the body: a response made of it must not unpack it again.
    named = [each for each in answer.headers.multi_items() if each[0] != "content-encoding"]
    whole = httpx.Response(answer.status_code, headers=named, content=told, request=request)
    whole.elapsed = answer.elapsed
    return whole


def test_a_sample_of_generated_requests_meets_no_fault(formed: Served, connect: Connect) -> None:
    """No 500, and every answer is as documented: for memories alone, to be quick."""
    client = connect(formed)
    walk = Walk(client, formed.app.openapi(), filled(client))
    walk.go(SAMPLE, below="/v1/memories/")

    assert [] == walk.wrong


@pytest.mark.prove
@pytest.mark.timeout(1_800)
def test_generated_requests_meet_no_fault(formed: Served, connect: Connect) -> None:
    """No 500 among 10,000, every answer as documented, and most operations answered once."""
    client = connect(formed)
    walk = Walk(client, formed.app.openapi(), filled(client))
    walk.go(PROVEN)

    print(f"{walk.made} generated requests: {dict(walk.statuses)}")  # noqa: T201
    every = {(method, path) for method, path, _ in operations(formed.app.openapi())}
    print(f"never succeeded: {sorted(every - walk.answered)}")  # noqa: T201
    assert [] == walk.wrong
    assert len(walk.answered) > len(every) * 2 / 3


@pytest.mark.parametrize("fault", ["an exception", "another form", "another status"])
def test_the_walk_finds_a_fault(
    served: Served, connect: Connect, monkeypatch: pytest.MonkeyPatch, fault: str
) -> None:
    """A 500, an answer of another form and a status that is not documented are each found."""
    client = connect(served, is_held=False)
    document = dict(served.app.openapi())
    if fault == "an exception":
        monkeypatch.setattr(reaching, "granted", lambda *_, **__: 1 / 0)
    elif fault == "another form":
        # Only a scope that holds something is listed.
        said = {"messages": [{"role": "user", "text": "Hi"}]}
        client.post("/v1/threads/talk/messages", json=said).raise_for_status()
        monkeypatch.setattr(reaching, "relative", lambda *_: "acme")
    else:
        told = document["paths"]["/v1/scopes"]["get"]
        kept = {each: told["responses"][each] for each in told["responses"] if each != "422"}
        scopes = {"get": {**told, "responses": kept}}
        document = {**document, "paths": {**document["paths"], "/v1/scopes": scopes}}
    walk = Walk(client, document)
    walk.go(10, below="/v1/scopes")

    assert walk.wrong


def test_every_route_of_ours_documents_its_answer(served: Served) -> None:
    """What is answered in JSON has a schema with named fields, and an error is a problem."""
    found = {
        (method, path): operation
        for method, path, operation in operations(served.app.openapi())
        if path.startswith("/v1") and "204" not in operation["responses"]
    }

    described = {at for at, told in OPERATIONS.items() if told.answer or told.stream}
    assert found.keys() == {at for at in described if at[1].startswith("/v1")}
    for operation in found.values():
        assert operation["responses"].keys() >= {"401", "403", "422", "429", "503"}
        assert operation["security"]


def models() -> Iterator[type[ResponseModel]]:
    """Yield what is answered that has an example."""
    for each in {told.answer for told in OPERATIONS.values()}:
        is_model = isinstance(each, type) and issubclass(each, ResponseModel)
        if is_model and each.model_config.get("json_schema_extra"):
            yield each


@pytest.mark.parametrize("model", sorted(models(), key=str))
def test_the_examples_are_such_answers(model: type[ResponseModel]) -> None:
    """Each example in the document has the form that it is an example of."""
    extra = cast("dict[str, Any]", model.model_config["json_schema_extra"])

    for example in extra["examples"]:
        model.model_validate(example)


@pytest.mark.parametrize("fault", ["an unknown field", "an unknown status"])
def test_what_every_test_asks_is_held_to_the_document(
    served: Served, connect: Connect, fault: str
) -> None:
    """The clients of all tests notice a field, and a status, that is not documented."""
    client = connect(served)
    (held,) = client.event_hooks["response"]
    answer = client.get("/v1/types")
    content = {**answer.json(), "more": 1} if fault == "an unknown field" else answer.json()
    status = 200 if fault == "an unknown field" else 418

    with pytest.raises((ValidationError, AssertionError)):
        held(httpx.Response(status, json=content, request=answer.request))
