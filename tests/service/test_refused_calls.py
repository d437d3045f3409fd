"""A model's calls that were refused are told where they were formed: library, HTTP and client."""

from collections.abc import Callable

import httpx
import pytest

import recollect
from recollect import FormationResult, RefusedCall
from recollect.cli.formation_results import result_record, summed_up
from recollect.client import SyncClient
from recollect.models import open_model
from recollect.ports import ModelRequest
from recollect.server.testing import Served

Connect = Callable[..., httpx.Client]
ADA = ("users", "ada")
PARIS = RefusedCall(
    kind="quote",
    reason="message 1 does not say 'I live in Paris': quote its words",
    type="User",
    value='{"home": "Paris"}',
)


def always_paris(_: ModelRequest) -> str:
    """Quote what nobody said."""
    return '[{"tool": "User", "value": {"home": "Paris"}, "because": ["1 /home: I live in Paris"]}]'


@pytest.fixture
def served(starting: Callable[..., Served]) -> Served:
    """Return a service with that model, in which a message waits."""
    found: Served = starting(model=open_model(always_paris))
    with SyncClient(found.url, found.key) as client:
        client.append(ADA, "chat", "I live in Oslo", quiet_s=3600)
    return found


def test_the_library_tells_what_was_refused_and_why() -> None:
    """A result without outcomes looks like one of nothing to remember."""
    with recollect.open_sync(
        "memory:", embedder="none", worker=False, model=always_paris
    ) as memory:
        memory.append(ADA, "chat", "I live in Oslo")
        (formed,) = memory.form(ADA)
        (receipt,) = memory.formations(ADA).rows

    assert FormationResult(end="formed", refused=(PARIS,)) == formed
    assert [PARIS.as_json()] == receipt.receipt["refused"]


def test_the_client_tells_it_too(served: Served) -> None:
    """In the shape of the library."""
    with SyncClient(served.url, served.key) as client:
        assert [FormationResult(end="formed", refused=(PARIS,))] == client.form(ADA)


def test_a_key_that_may_not_read_is_told_the_kind_alone(served: Served, connect: Connect) -> None:
    """A reason may repeat what the model has read."""
    asked = {"name": "writer", "permissions": ["write"]}
    secret = connect(served).post("/v1/keys", json=asked).json()["key"]

    with SyncClient(served.url, secret) as writer:
        (formed,) = writer.form(ADA)

    assert (RefusedCall(kind="quote", reason=""),) == formed.refused


def test_the_answer_is_as_documented(served: Served, connect: Connect) -> None:
    """`connect` holds it to the document; what a call has not is left out."""
    (result,) = connect(served).post("/v1/form", params={"scope": ADA}).json()["results"]

    told = {"kind": "quote", "reason": PARIS.reason, "type": "User", "value": PARIS.value}
    assert {"end": "formed", "reason": "", "refused": [told]} == result


def test_the_command_line_counts_and_tells_it() -> None:
    """And does not say that there was nothing to remember."""
    formed = FormationResult(end="formed", refused=(PARIS,))

    assert "1 refused" == summed_up(formed)
    assert {
        "end": "formed",
        "counts": {"refused": 1},
        "outcomes": [],
        "refused": [PARIS.as_json()],
    } == result_record(formed)
