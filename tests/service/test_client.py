"""The client answers what the library answers, raises what it raises, and repeats what it may."""

import asyncio
import inspect
import json
import threading
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, TypeVar
from urllib.parse import urlsplit

import httpx
import pytest

import recollect
from recollect import EraseScope, NewMessage, Recollect, Where, errors
from recollect.client import Client, SyncClient
from recollect.client.http_requests import WAIT_S_MAX, HttpSender, ServiceRequest, classes, error_of
from recollect.errors import (
    ConflictError,
    ForbiddenError,
    GoneError,
    LimitError,
    NotFoundError,
    QuotaError,
    RecollectError,
    StoreClosedError,
    StoreUnavailableError,
    UnknownKeyError,
    UsageError,
    VersionConflictError,
)
from recollect.records import Scope, ScopeLike
from recollect.server.authorization import PERMISSIONS
from recollect.server.http.problems import problem_of
from recollect.server.quotas import Rates
from recollect.server.testing import Served
from recollect.testing.scripted_model import ScriptedModel
from tests.harness.faulty_proxy import Cut, FaultyProxy

pytestmark = pytest.mark.timeout(240)
T = TypeVar("T")
Start = Callable[..., Served]
ADA: Scope = ("users", "ada")
NOTE = {"context": "always", "content": "Ada likes owls"}
BLOCKS = [{"type": "text", "text": "My violin is red."}, {"type": "image_url", "image_url": "x"}]
SAID = [NewMessage(role="user", text="My boat is called Penelope", id="m1", name="Ada")]
MAY = datetime(2026, 5, 1, tzinfo=UTC)


@pytest.fixture
def anyio_backend() -> str:
    """Run on asyncio, where the stores live."""
    return "asyncio"


@pytest.fixture(scope="module")
def client(served: Served) -> Iterator[SyncClient]:
    """Yield a client with the first key."""
    with SyncClient(served.url, served.key) as found:
        yield found


def behind(served: Served, reading: Callable[[Recollect], Awaitable[T]]) -> T:
    """Return what the memory behind the service answers itself."""
    memory = served.service.memory
    assert memory.loop is not None

    async def read() -> T:
        return await reading(memory)

    return asyncio.run_coroutine_threadsafe(read(), memory.loop).result(30)


# The same methods

LACKS = {
    "append": {"debounce", "settings", "state", "attachments", "writes"},
    "context": {"count_tokens", "secret"},
    "scopes": {"suffix", "depth_max"},
    "import_records": {"told"},
}
"""What the service does not take."""
ADDS = {"append": {"quiet_s", "assistant"}, "receipts": {"scope", "below"}}
"""What the service takes beside."""
READS_OTHERWISE = {
    ("recall", "scope"): "one scope, not several",
    ("scopes", "prefix"): "no patterns",
}
ANSWERS_OTHERWISE: dict[str, str] = {}
"""Nothing: a method has one result type."""
BESIDE = {"me", "preview_erase", "confirm_erase"}
"""Methods that the library has in another form."""
NOT_OVER_HTTP = {
    *(
        "apply",
        "apply_each",
        "keep",
        "consolidate",
        "migrate_type",
        "undo",
        "signal",
        "clean",
    ),
    *("settled", "state", "set_state", "attach", "attachments", "attachment", "detach"),
    *("acting", "noting", "loop", "embedder", "lacks_model", "type_of", "reembed", "undo_reembed"),
    *("outside_error", "tasks", "nearest", "caught_up", "embed"),
    *("strength", "tune", "forget_strength", "quotations"),
}
"""What whoever runs the store does with it, or what only a process with the store can."""


def public(class_: type) -> dict[str, Any]:
    """Return the methods that a user sees."""
    return {
        name: getattr(class_, name)
        for each in class_.__mro__[:-1]
        for name in vars(each)
        if not name.startswith("_")
    }


def differences(client: type, library: type) -> list[str]:
    """Say where the shared methods of two classes differ, beyond what is known."""
    one, other = public(client), public(library)
    found = [f"{name} is new" for name in sorted(one.keys() - other.keys() - BESIDE)]
    missing = other.keys() - one.keys() - NOT_OVER_HTTP - {"store", "worker", "turns", "over"}
    found += [f"{name} is missing" for name in sorted(missing)]
    for name in sorted(one.keys() & other.keys()):
        mine, theirs = inspect.signature(one[name]), inspect.signature(other[name])
        adds = mine.parameters.keys() - theirs.parameters.keys()
        lacks = theirs.parameters.keys() - mine.parameters.keys()
        if adds != ADDS.get(name, set()) or lacks != LACKS.get(name, set()):
            found.append(f"{name} adds {sorted(adds)} and lacks {sorted(lacks)}")
        for each in mine.parameters.keys() & theirs.parameters.keys():
            ours, its = mine.parameters[each], theirs.parameters[each]
            is_known = (name, each) in READS_OTHERWISE
            if ours.kind != its.kind or (str(ours) != str(its) and not is_known):
                found.append(f"{name} takes {ours}, not {its}")
        answers = (mine.return_annotation, theirs.return_annotation)
        if (answers[0] != answers[1]) != (name in ANSWERS_OTHERWISE):
            found.append(f"{name} answers {answers[0]}, not {answers[1]}")
    return found


def test_the_client_has_the_methods_of_the_library() -> None:
    """Every shared method takes and answers the same, but for what is listed here."""
    assert [] == differences(Client, Recollect)


class Forgetful(Client):
    """A client with another default, and with a parameter that nobody knows."""

    async def threads(self, scope: ScopeLike, *, cursor: str | None = None, limit: int = 7) -> Any:
        """Return nothing."""

    async def guess(self) -> None:
        """Do something that nobody asked for."""


def test_a_method_that_differs_is_reported() -> None:
    """The mutant: another default, another answer and another method are told."""
    told = differences(Forgetful, Recollect)

    assert "guess is new" in told
    assert any(each.startswith("threads takes limit") for each in told)
    assert any(each.startswith("threads answers") for each in told)


# The same records


def test_what_is_read_is_what_the_library_reads(served: Served, client: SyncClient) -> None:
    """Threads, messages, memories and their history come back as the same frozen records."""
    acme = ("acme", *ADA)
    (said,) = client.append(ADA, "boats", SAID)
    evidence = {"/content": [recollect.Evidence(thread="boats", message="m1", quote="boat")]}
    client.put(ADA, "Note", "owls", NOTE, valid_from=MAY, evidence=evidence)
    client.put(ADA, "Note", "owls", {**NOTE, "content": "and hawks"}, expected=1)

    assert behind(served, lambda memory: memory.messages(acme, "boats")).rows == (said,)
    assert client.messages(ADA, "boats").rows == (said,)
    assert client.last_messages(ADA, "boats", limit=1) == (said,)
    (thread,) = behind(served, lambda memory: memory.threads(acme)).rows
    for found in (
        client.threads(ADA).rows[0],
        client.thread(ADA, "boats"),
        client.pending(ADA).rows[0],
        next(each for each in client.pending(limit=200).rows if each.scope == ADA),
    ):
        assert isinstance(found, recollect.Thread)
        assert ("acme", *found.scope) == thread.scope
        assert recollect.records.Thread(**{**fields_of(found), "scope": acme}) == thread
    memory = behind(served, lambda memory: memory.get(acme, "Note", "owls"))
    mine = client.get(ADA, "Note", "owls")
    assert memory is not None
    assert mine is not None
    assert {**fields_of(memory), "scope": ADA} == fields_of(mine)
    assert client.memories(ADA, type_="Note").rows == (mine,)
    history = behind(served, lambda memory: memory.history(acme, "Note", "owls"))
    assert [1, 2] == [each.version for each in history]
    assert list(map(fields_of, client.history(ADA, "Note", "owls"))) == list(
        map(fields_of, history)
    )


def fields_of(record: Any) -> dict[str, Any]:
    """Return the fields of a record, evidence as lists."""
    found = {name: getattr(record, name) for name in type(record).__slots__}
    if "evidence" in found:
        found["evidence"] = {name: list(each) for name, each in found["evidence"].items()}
    return found


def shown(entry: Any, *above: str) -> Any:
    """Return the content of an entry as the library names its scope."""
    found = fields_of(entry.content)
    return found | ({"scope": (*above, *found["scope"])} if "scope" in found else {})


def test_recall_is_that_of_the_library(served: Served, client: SyncClient) -> None:
    """Entries, figures and what was left out are the same, and so is the block for a prompt."""
    scope = ("recalled",)
    client.append(scope, "t", [NewMessage(role="user", text=f"boat number {n}") for n in range(9)])
    client.put(scope, "Note", "boat", {**NOTE, "content": "The boat leaks"})
    for where in (None, Where(messages=False), Where(threads=["t"], types=[])):
        mine = client.recall(scope, "Which boat?", limit=5, budget_tokens=40, where=where)
        theirs = behind(
            served,
            lambda memory, where=where: memory.recall(  # type: ignore[misc]
                ("acme", "recalled"), "Which boat?", limit=5, budget_tokens=40, where=where
            ),
        )

        assert mine.entries
        assert list(map(shown, theirs.entries)) == [shown(each, "acme") for each in mine.entries]
        assert mine.render().count("\n") == theirs.render().count("\n")
        assert [each.score for each in theirs.entries] == [each.score for each in mine.entries]
        assert [each.relevance for each in theirs.entries] == [
            each.relevance for each in mine.entries
        ]
        assert [dict(each.signals) for each in theirs.entries] == [
            each.signals for each in mine.entries
        ]
        assert theirs.tokens == mine.tokens
        assert [each.reason for each in theirs.dropped] == [each.reason for each in mine.dropped]


def test_the_lowest_relevance_is_that_of_the_library(client: SyncClient) -> None:
    """Entries below it are left out, and said to be."""
    scope = ("relevance",)
    client.append(scope, "t", ["The boat leaks", "Owls sleep by day"])
    every = client.recall(scope, "Which boat leaks?").entries
    least = every[0].relevance

    found = client.recall(scope, "Which boat leaks?", min_score=least)

    assert 0 < least <= 1
    assert [each.source for each in every if each.relevance >= least] == [
        each.source for each in found.entries
    ]
    assert {"score"} == {each.reason for each in found.dropped}


def test_nothing_is_answered_as_by_the_library(client: SyncClient) -> None:
    """What is not there is ``None`` or empty, and no error."""
    scope = ("nobody",)

    assert client.thread(scope, "t") is None
    assert client.get(scope, "Note", "x") is None
    assert client.formation(scope, "x") is None
    assert () == client.history(scope, "Note", "x")
    assert () == client.messages(scope, "t").rows
    assert () == client.last_messages(scope, "t", limit=3)
    assert 0 == client.remove(scope, "t", ["m"])
    assert client.delete(scope, "Note", "x") is False


def test_pages_are_followed_to_their_end(client: SyncClient) -> None:
    """The position after which messages go on is the cursor, as in the library."""
    scope = ("paged",)
    client.append(scope, "t", [NewMessage(role="user", text=f"line {n}") for n in range(5)])
    found, after = [], 0
    while True:
        page = client.messages(scope, "t", after=after, limit=2)
        found += [each.position for each in page.rows]
        if page.cursor is None:
            break
        after = int(page.cursor)

    assert [1, 2, 3, 4, 5] == found
    assert [3, 4] == [each.position for each in client.last_messages(scope, "t", limit=2, before=5)]


def test_messages_are_replaced_and_removed(client: SyncClient) -> None:
    """A message keeps its id and position; removing counts what was there."""
    scope = ("edited",)
    client.append(scope, "t", SAID)
    replaced = client.replace(scope, "t", NewMessage(role="user", text="Kestrel", id="m1"))

    assert ("m1", 1, "Kestrel") == (replaced.id, replaced.position, replaced.text)
    assert 1 == client.remove(scope, "t", ["m1", "unknown"])


def test_an_export_is_restored(client: SyncClient) -> None:
    """Records go out and in again; repeating that takes nothing, and a bad one is told."""
    client.append(("out", "ada"), "t", SAID)
    records = list(client.export(("out",), below=True))
    moved = [{**each, "scope": ["in"]} for each in records]

    assert len(moved) == client.import_records(moved)
    assert 0 == client.import_records(moved)
    assert ["My boat is called Penelope"] == [
        each.text for each in client.messages(("in",), "t").rows
    ]
    with pytest.raises(ConflictError, match=r"1 of 1 records were refused; record 1"):
        client.import_records([{"scope": ["in"], "kind": "nonsense"}])
    assert ("in",) in client.scopes(limit=200).rows


def test_the_audit_is_that_of_the_library(served: Served, client: SyncClient) -> None:
    """Rows and verdict are the records of the library."""
    scope = ("audited",)
    client.append(scope, "t", SAID)
    verdict = client.verify_audit(scope)

    assert client.audit(scope) == behind(served, lambda memory: memory.audit(("acme", *scope)))
    assert verdict.ok
    assert verdict.head is not None
    assert client.verify_audit(scope, noted=(verdict.rows, verdict.head)).ok
    assert 1 == client.verify_audit(scope, noted=(1, "0" * 64)).broken_at


def test_forming_pausing_and_reviewing(starting: Start) -> None:
    """What waits is held up and formed; the receipts are records."""
    served = starting(model=ScriptedModel([]))
    scope = ("formed",)
    with SyncClient(served.url, served.key) as client:
        client.append(scope, "t", SAID, quiet_s=0)
        counts = [client.pause(scope)]
        paused = client.thread(scope, "t")
        counts += [client.resume(scope, "t"), client.retry(scope, "t")]
        formed = client.form(scope)
        found = client.formations(scope).rows

        assert paused is not None
        assert "paused" == paused.state
        assert [1, 1, 0] == counts
        assert ["failed"] == [each.end for each in formed] == [each.status for each in found]
        assert {each.id for each in found} == {
            each.id for each in (client.formation(scope, row.id) for row in found) if each
        }
        client.put(scope, "Note", "owls", NOTE)
        assert "rejected" == client.reject(scope, "Note", "owls", expected=1).state
        with pytest.raises(UsageError):
            client.approve(scope, "Note", "owls")


# The same errors


def examples() -> list[RecollectError]:
    """Return an error of every class."""
    given: dict[str, tuple[Any, ...]] = {
        "limit": ("characters of it", 12, 10, "IT_MAX"),
        "update_mode": ("Note", "insert", "patch", 2),
        "version_conflict": ("Note/x", 1, 2),
        "proposal_refused": ("it breaks a rule", "p1"),
        "quota": ("messages", "messages_a_day", 10.0, 30.0),
        "missing_extra": ("client", "httpx"),
        "model_unavailable": ("it is busy", 3.0),
        "service_version": ("it has no POST /v1/x", "0.1.0", "0.2.0"),
    }
    return [
        class_(*given.get(code, (f"what happened with {code}",)))
        for code, class_ in sorted(classes().items())
    ]


@pytest.mark.parametrize("error", examples(), ids=lambda error: error.code)
def test_every_error_comes_back_as_its_class(error: RecollectError) -> None:
    """What the service answers to an error is that error again, with its words and its facts."""
    problem = problem_of(error)
    response = problem.response()
    told = error_of(problem.status, json.loads(bytes(response.body)), response.headers)

    assert (type(error), str(error), error.args) == (type(told), str(told), told.args)
    assert vars(error) == {name: each for name, each in vars(told).items() if name != "__notes__"}


def test_every_error_has_an_example() -> None:
    """Each class of `recollect.errors` is among them."""
    known = {
        each
        for each in vars(errors).values()
        if isinstance(each, type) and issubclass(each, RecollectError)
    }

    assert known <= {type(each) for each in examples()}


@pytest.mark.parametrize(
    ("status", "problem", "expected"),
    [
        (413, {"code": "limit", "detail": "too large"}, UsageError),
        (404, {"code": "no_path", "detail": "no such path"}, UsageError),
        (503, {"code": "timeout", "detail": "too slow"}, StoreUnavailableError),
        (503, None, StoreUnavailableError),
        (421, {"code": "host", "detail": "not this host"}, errors.AccessError),
        (500, {"code": "error", "detail": "it failed"}, RecollectError),
        (409, {"code": "version_conflict", "detail": "x", "facts": {"a": 1}}, RecollectError),
    ],
)
def test_what_has_no_class_of_its_own(
    status: int, problem: Any, expected: type[RecollectError]
) -> None:
    """A problem that is the service's own, or of another version, is the nearest class."""
    assert expected is type(error_of(status, problem, {}))


def test_the_service_raises_as_the_library_does(served: Served, client: SyncClient) -> None:
    """Through the service itself: a stale version, a used key, a limit, no right, no key."""
    scope = ("failing",)
    client.put(scope, "Note", "x", NOTE, expected=0)
    with pytest.raises(VersionConflictError) as stale:
        client.put(scope, "Note", "x", NOTE, expected=7)
    client.append(scope, "t", SAID, idempotency_key="k")
    with pytest.raises(ConflictError):
        client.append(scope, "t", [NewMessage(role="user", text="other")], idempotency_key="k")
    with pytest.raises(LimitError):
        client.append(("x",) * 16, "t", SAID)
    with pytest.raises(NotFoundError):
        client.approve(scope, "Note", "unknown")
    with pytest.raises(UsageError, match="name is empty"):
        client.get(scope, "Note", "")
    with SyncClient(served.url, "nonsense") as nobody, pytest.raises(UnknownKeyError):
        nobody.me()
    key = new_key(served, "read")
    with SyncClient(served.url, key) as reader, pytest.raises(ForbiddenError):
        reader.append(scope, "t", SAID)

    assert (7, 1) == (stale.value.expected, stale.value.actual)
    assert frozenset(PERMISSIONS) == client.me().permissions


def new_key(served: Served, *permissions: str) -> str:
    """Make a key of the first scope."""
    making = behind(served, lambda _: served.service.keys.create("made", ("acme",), permissions))
    return making[1]


@pytest.mark.parametrize("scope", ["", b"users", None, ("a", 1.5), ("a",) * 40, ("a\0",)])
def test_what_is_no_scope_is_refused_before_it_is_sent(client: SyncClient, scope: Any) -> None:
    """Nothing is kept, and the error is the library's."""
    before = client.scopes()

    with pytest.raises(UsageError):
        client.append(scope, "talk", [NewMessage(role="user", text="hello")])
    with pytest.raises(UsageError):
        client.put(scope, "User", "User", {"name": "Ada"})

    assert before == client.scopes()


@pytest.mark.parametrize("value", [{"a": float("nan")}, {"a": {1}}, {"a": object()}])
def test_what_is_no_json_is_refused_before_it_is_sent(client: SyncClient, value: Any) -> None:
    """A value that cannot be written as JSON is named, with what it was for."""
    with pytest.raises(UsageError, match="the body of PUT /v1/memories/Note/n1 is not JSON"):
        client.put(("users", "ada"), "Note", "n1", value)


@pytest.mark.parametrize(
    ("url", "key"), [("nonsense", ""), ("", ""), ("http://127.0.0.1:1", "k\nx"), ("ftp://a", "k")]
)
def test_an_address_that_is_none_is_told_from_one_that_is_away(url: str, key: str) -> None:
    """No request is made to it, and nobody is told to see whether it runs."""
    with pytest.raises(UsageError), SyncClient(url, key):
        pass


def test_a_client_that_is_not_open_says_so(served: Served) -> None:
    """Before and after its block nothing is asked."""
    client = SyncClient(served.url, served.key)

    with pytest.raises(StoreClosedError):
        client.me()
    with client:
        client.me()
    with pytest.raises(StoreClosedError):
        client.me()


# What is made again


class Waits:
    """A way to wait that takes no time and notes how long it was to be."""

    def __init__(self, meanwhile: Callable[[], None] = lambda: None) -> None:
        self.seconds: list[float] = []
        self._meanwhile = meanwhile

    async def __call__(self, seconds: float) -> None:
        self.seconds.append(seconds)
        self._meanwhile()


@contextmanager
def proxied(served: Served, mark: bytes, *cuts: Cut) -> Iterator[str]:
    """Yield the address of a proxy that cuts connections on which the mark comes by."""
    port = urlsplit(served.url).port
    assert port is not None
    with FaultyProxy(port, mark) as proxy:
        proxy.cuts.extend(cuts)
        yield f"http://127.0.0.1:{proxy.port}"
        assert not proxy.cuts, "nothing was cut"


async def appended(url: str, key: str, scope: Scope) -> list[float]:
    """Append one message over a connection that may be cut; return how long it waited."""
    waits = Waits()
    async with Client(url, key, sleep=waits) as client:
        (kept,) = await client.append(scope, "t", [NewMessage(role="user", text="once")])
    assert "once" == kept.text
    return waits.seconds


async def kept_through(
    served: Served, scope: Scope, cuts: Sequence[Cut]
) -> tuple[list[str], list[float]]:
    """Append one message through cuts; return what is there then, and how long it waited."""
    with proxied(served, b"POST /v1/threads", *cuts) as url:
        waited = await appended(url, served.key, scope)
    async with Client(served.url, served.key) as client:
        page = await client.messages(scope, "t")
    return [each.text for each in page.rows], waited


@pytest.mark.anyio
@pytest.mark.parametrize("cuts", [["before"], ["after"], ["after", "before", "after"]])
async def test_a_cut_connection_keeps_one_message(served: Served, cuts: Sequence[Cut]) -> None:
    """Whether the service heard it before the cut or not: the message is there once."""
    kept, waited = await kept_through(served, ("cut", *cuts), cuts)

    assert ["once"] == kept
    assert len(cuts) == len(waited)


@pytest.mark.anyio
async def test_a_client_without_one_key_for_all_attempts_is_caught(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mutant: attempts that the service cannot know again keep the message twice."""
    built = HttpSender._build

    def keyless(asker: HttpSender, request: ServiceRequest) -> Any:
        made = built(asker, request)
        made.headers.pop("idempotency-key", None)
        return made

    monkeypatch.setattr(HttpSender, "_build", keyless)

    kept, _ = await kept_through(served, ("cut", "mutant"), ["after"])

    assert ["once", "once"] == kept


@pytest.mark.anyio
async def test_a_write_at_a_version_survives_a_cut(served: Served) -> None:
    """It is made again, and what the first attempt wrote is returned; another call is refused."""
    scope = ("cut-put",)
    with proxied(served, b"PUT /v1/memories", "after", "after") as url:
        async with Client(url, served.key, sleep=Waits()) as client:
            first = await client.put(scope, "Note", "x", NOTE, expected=0)
            second = await client.put(scope, "Note", "x", {**NOTE, "content": "b"}, expected=1)
    with proxied(served, b"DELETE /v1/memories", "after") as url:
        async with Client(url, served.key, sleep=Waits()) as client:
            with pytest.raises(VersionConflictError):
                await client.put(scope, "Note", "x", NOTE, expected=1)
            is_gone = await client.delete(scope, "Note", "x", expected=2)

    assert (1, 2) == (first.version, second.version)
    assert is_gone


@pytest.mark.anyio
async def test_a_write_without_a_version_survives_a_cut(served: Served) -> None:
    """The service knows it again by a key of the client's: it is written once."""
    scope, waits = ("cut-put-blind",), Waits()
    with proxied(served, b"PUT /v1/memories", "after", "before", "after") as url:
        async with Client(url, served.key, sleep=waits) as client:
            written = await client.put(scope, "Note", "x", NOTE)
            history = await client.history(scope, "Note", "x")

    assert 1 == written.version == len(history)
    assert 3 == len(waits.seconds)


@pytest.mark.anyio
async def test_what_was_erased_between_two_attempts_stays_away(served: Served) -> None:
    """The second attempt is told that it is gone, as the library says it."""
    scope = ("cut-erased",)

    async def erase(_: float) -> None:
        async with Client(served.url, served.key) as other:
            await other.erase(scope, EraseScope())

    said = [NewMessage(role="user", text="once")]
    with proxied(served, b"POST /v1/threads", "after") as url:
        async with Client(url, served.key, sleep=erase) as client:
            with pytest.raises(GoneError):
                await client.append(scope, "t", said)
    with proxied(served, b"PUT /v1/memories", "after") as url:
        async with Client(url, served.key, sleep=erase) as client:
            with pytest.raises(GoneError):
                await client.put(scope, "Note", "x", NOTE)
            assert () == (await client.memories(scope)).rows
            assert () == (await client.messages(scope, "t")).rows


@pytest.mark.anyio
async def test_a_write_that_is_not_known_again_is_made_once(served: Served) -> None:
    """Nobody can tell whether it happened: the caller decides."""
    scope, waits = ("cut-blind",), Waits()
    async with Client(served.url, served.key) as client:
        await client.put(scope, "Note", "x", NOTE)
    with proxied(served, b"POST /v1/memories", "after") as url:
        async with Client(url, served.key, sleep=waits) as client:
            with pytest.raises(StoreUnavailableError, match="may have been carried out"):
                await client.reject(scope, "Note", "x")
            written = await client.get(scope, "Note", "x")

    assert written is not None
    assert "rejected" == written.state
    assert [] == waits.seconds


@pytest.mark.anyio
async def test_a_tenant_over_its_rate_waits_as_it_is_told(starting: Start) -> None:
    """429 is waited for as long as Retry-After says; where it is too long, it is told at once."""
    served = starting(requests_a_second=0.1, burst=1)

    def refill() -> None:
        served.service.rates = Rates(rate=0.1, burst=1)

    waits = Waits(refill)
    async with Client(served.url, served.key, sleep=waits) as client:
        await client.append(ADA, "t", SAID)
        await client.threads(ADA)
        with pytest.raises(QuotaError) as refused:
            await client.reject(ADA, "Note", "x")
    served.service.rates = Rates(rate=0.001, burst=1)
    async with Client(served.url, served.key, sleep=waits) as client:
        await client.threads(ADA)
        with pytest.raises(QuotaError):
            await client.threads(ADA)

    assert [True] == [1 <= each <= WAIT_S_MAX for each in waits.seconds]
    assert refused.value.retry_after_s > 0


@contextmanager
def scripted(*answers: tuple[int, dict[str, str]]) -> Iterator[tuple[str, list[str]]]:
    """Run a server that answers so, the last for ever; yield its address and what it was asked."""
    asked: list[str] = []
    left = list(answers)

    class Scripted(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            status, headers = left.pop(0) if len(left) > 1 else left[0]
            body = b'{"threads": [], "cursor": null}' if status == 200 else b"busy"
            self.send_response(status)
            for name, value in {**headers, "content-length": str(len(body))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Scripted) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}", asked
        server.shutdown()
        thread.join(30)


@pytest.mark.anyio
async def test_a_busy_service_is_asked_again() -> None:
    """503 is waited for, longer each time where it does not say how long; not for ever."""
    waits = Waits()
    with scripted((503, {}), (503, {"retry-after": "2"}), (200, {})) as (url, asked):
        async with Client(url, sleep=waits) as client:
            page = await client.threads(ADA)
    never = Waits()
    with scripted((503, {})) as (url, refused):
        async with Client(url, sleep=never, retries=2) as client:
            with pytest.raises(StoreUnavailableError):
                await client.threads(ADA)

    assert () == page.rows
    assert (3, 3) == (len(asked), len(refused))
    assert 2.0 == waits.seconds[1]
    assert never.seconds[0] < 2 * never.seconds[1]


@pytest.mark.anyio
async def test_a_service_that_is_away_is_told() -> None:
    """After the attempts it is an error of the library's, and says what to see to."""
    with scripted((200, {})) as (url, _):
        pass
    waits = Waits()
    async with Client(url, sleep=waits) as client:
        with pytest.raises(StoreUnavailableError, match="cannot be reached"):
            await client.threads(ADA)

    assert 3 == len(waits.seconds)


def test_short_forms_go_over_http(client: SyncClient) -> None:
    """Plain messages, a text as scope, a remembered sentence: as in the library."""
    client.append("short", "talk", "I live in Oslo.")
    client.append("short", "talk", [{"role": "assistant", "content": "Nice!"}])
    first = client.remember("short", "Ada likes owls.")
    again = client.remember("short", "ada likes owls")
    ended = client.end("short", "Note", first.key, datetime(2024, 1, 1, tzinfo=UTC), expected=1)

    said = client.messages("short", "talk").rows
    assert [("user", "I live in Oslo."), ("assistant", "Nice!")] == [
        (each.role, each.text) for each in said
    ]
    assert again == first
    assert (first.scope, first.value["content"]) == (("short",), "Ada likes owls.")
    assert (2, datetime(2024, 1, 1, tzinfo=UTC)) == (ended.version, ended.valid_until)
    assert client.delete("short", "Note", first.key)


def test_a_message_over_http_may_have_its_text_as_content(served: Served) -> None:
    """As chat interfaces have it; words that are there twice are refused."""
    answers = [
        httpx.post(
            f"{served.url}/v1/threads/plain/messages",
            params={"scope": "plain"},
            headers={"x-api-key": served.key},
            json={"messages": [{"role": "user", **message}]},
        )
        for message in ({"content": "Hi"}, {"content": BLOCKS}, {"content": "Hi", "text": "Ho"}, {})
    ]

    assert [201, 201, 422, 422] == [each.status_code for each in answers]
    plain, pictured = (each.json()["messages"][0] for each in answers[:2])
    assert ("Hi", "My violin is red.") == (plain["text"], pictured["text"])
    assert BLOCKS == pictured["content"]


def test_a_client_opens_without_a_block(served: Served) -> None:
    """It can be closed twice, and opened again."""
    client = SyncClient(served.url, served.key)
    for _ in range(2):
        assert client.open() is client
        with pytest.raises(UsageError, match="already open"):
            client.open()
        assert client.me().permissions
        client.close()
        client.close()
    with pytest.raises(StoreClosedError):
        client.me()
