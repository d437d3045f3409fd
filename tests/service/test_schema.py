"""Requests made at random from /openapi.json meet no fault of the server's own."""

from collections import Counter
from collections.abc import Callable
from typing import Any, cast

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from recollect.service.testing import Served

Connect = Callable[..., httpx.Client]
SAMPLE = 300
PROVEN = 10_000
# It streams without an end; and the generator knows no JSON Lines.
LEFT_OUT = frozenset({("GET", "/v1/changes"), ("POST", "/v1/import")})
PROBLEM = "application/problem+json"


def faults(served: Served, connect: Connect, count: int) -> tuple[int, Counter[int], list[str]]:
    """Return how many requests were made, their statuses, and what was wrong with an answer."""
    client = connect(served)
    schema = schemathesis.openapi.from_dict(served.app.openapi())
    found: list[Any] = [each.ok() for each in cast("Any", schema.get_all_operations())]
    operations = [each for each in found if (each.method.upper(), each.path) not in LEFT_OUT]
    statuses: Counter[int] = Counter()
    wrong: list[str] = []
    share = max(1, count // len(operations))
    for operation in operations:
        modes = list(schemathesis.GenerationMode)
        strategies = st.one_of([operation.as_strategy(generation_mode=each) for each in modes])

        @seed(7)
        @settings(
            max_examples=share,
            phases=[Phase.generate],
            database=None,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        )
        @given(case=strategies)
        def walk(case: Any) -> None:
            answer = sent(client, case)
            if answer is None:
                return
            statuses[answer.status_code] += 1
            is_problem = answer.headers.get("content-type") == PROBLEM
            if answer.status_code == 500 or (answer.status_code >= 400 and not is_problem):
                wrong.append(f"{case.method} {case.formatted_path} {answer.status_code}")

        walk()
    return sum(statuses.values()), statuses, wrong


def sent(client: httpx.Client, case: Any) -> httpx.Response | None:
    """Return what a case is answered; ``None`` if no client could send it."""
    parts = case.as_transport_kwargs(base_url=str(client.base_url))
    headers = {name: each for name, each in (parts.get("headers") or {}).items() if each}
    for name in ("x-api-key", "authorization", "X-Api-Key", "Authorization", "Host", "Origin"):
        headers.pop(name, None)
    try:
        return client.request(
            parts["method"],
            parts["url"],
            params=parts.get("params"),
            headers=headers,
            **{name: parts[name] for name in ("json", "content") if name in parts},
        )
    except (httpx.InvalidURL, httpx.LocalProtocolError, UnicodeEncodeError, TypeError, ValueError):
        return None


def test_a_sample_of_generated_requests_meets_no_fault(served: Served, connect: Connect) -> None:
    """No 500, and every refusal is a problem."""
    made, statuses, wrong = faults(served, connect, SAMPLE)

    assert [] == wrong
    assert made > SAMPLE / 2, statuses


@pytest.mark.prove
def test_generated_requests_meet_no_fault(served: Served, connect: Connect) -> None:
    """No 500 among 10,000, and every refusal is a problem."""
    made, statuses, wrong = faults(served, connect, PROVEN)

    print(f"{made} generated requests: {dict(statuses)}")  # noqa: T201
    assert [] == wrong
    assert made > PROVEN / 2
