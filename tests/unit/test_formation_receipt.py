"""The receipt: what was asked, what became of it and what it cost, in a size that can be kept."""

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.formation.config import ModelPrices
from recollect.formation.formation_receipt import (
    TEXT_CHARACTERS_MAX,
    ModelExchange,
    ModelExchanges,
    kept_text,
    receipt_of,
)
from recollect.formation.grounding.grounds import Grounds
from recollect.formation.operation_outcomes import Grounded, OperationOutcome
from recollect.formation.operations import Citation, Fault, Insert
from recollect.formation.window import Window, WindowLine
from recollect.ports import ModelAnswer, ModelRequest, Tool, ToolCall, Turn, Usage
from recollect.records import Json, JsonObject
from recollect.stores.validation import check_object
from tests.harness.sample_contents import sample_message

AT = datetime(2026, 5, 1, 12, tzinfo=UTC)
LINE = WindowLine(
    number=1,
    message=sample_message(id="id1", text="Hi.", time=AT),
    text="Hi.",
    new=True,
)  # fmt: skip
WINDOW = Window(scope=("u",), lines=(LINE,), watermarks={"talk": 1})
TOOL = Tool(name="Note", description="d", parameters={"type": "object"})
REQUEST = ModelRequest(system="s", turns=(Turn(role="user", text="Hi."),), tools=(TOOL,))


def exchange(
    text: str = "", calls: Sequence[ToolCall] = (), turns: Sequence[Turn] = (), tokens: int = 10
) -> ModelExchange:
    """Return one request and its answer."""
    request = ModelRequest(system="s", turns=(*REQUEST.turns, *turns), tools=(TOOL,))
    usage = Usage(input_tokens=tokens, output_tokens=1)
    return ModelExchange(
        request=request, answer=ModelAnswer(text=text, calls=tuple(calls), usage=usage)
    )


def refused(reason: str, value: JsonObject | None = None) -> tuple[Insert, Fault]:
    """Return an operation that was refused."""
    because = (Citation(message=1, quote="Hi."),)
    operation = Insert(call="c", type="Note", value=value or {"a": "b"}, because=because)
    return operation, Fault(call="c", kind="value", reason=reason)


def outcome(action: str = "stored", type_: str = "Note", reason: str = "") -> OperationOutcome:
    """Return what became of an operation."""
    return OperationOutcome(action=action, type=type_, key="k", reason=reason)  # type: ignore[arg-type]


def kept(
    asked: ModelExchanges, outcomes: Sequence[OperationOutcome] = (), reason: str = ""
) -> dict[str, Any]:
    """Return a receipt that a store has taken."""
    receipt = receipt_of(WINDOW, asked, outcomes, model="a/b", reason=reason)
    found: dict[str, Any] = json.loads(check_object(receipt, "a receipt"))
    return found


def test_a_receipt_tells_what_was_asked_and_what_came_of_it() -> None:
    """Prompt, tools, answer, outcomes, faults, tokens."""
    call = ToolCall(name="Note", arguments='{"a": 1}', id="1")
    exchanges = (
        exchange("Well.", [call]),
        exchange(turns=[Turn(role="tool", text="x", answers="1")]),
    )
    asked = ModelExchanges(exchanges=exchanges, refused=(refused("no"),))

    receipt = kept(asked, [outcome(), outcome("merged", reason="again"), outcome(type_="User")])

    assert ("a/b", 2, 20, 2, 1) == tuple(
        receipt[name] for name in ("model", "calls", "input_tokens", "output_tokens", "messages")
    )
    assert {"merged": 1, "stored": 2} == receipt["counts"]
    assert [{"kind": "value", "reason": "no", "type": "Note", "value": '{"a": "b"}'}] == receipt[
        "refused"
    ]
    first, second = receipt["exchanges"]
    assert {"system", "turns", "tools", "answer"} == first.keys()
    assert ["Note"] == [each["name"] for each in first["tools"]]
    assert "1" == second["turns"][1]["answers"]


def test_tokens_are_shared_among_the_types() -> None:
    """By what became of each."""
    asked = ModelExchanges(exchanges=(exchange(tokens=99),))

    receipt = kept(asked, [outcome(), outcome(), outcome(), outcome(type_="User")])

    assert {
        "Note": {"operations": 3, "tokens": 75},
        "User": {"operations": 1, "tokens": 25},
    } == receipt["by_type"]


def test_a_price_is_told_where_one_is_known() -> None:
    asked = ModelExchanges(exchanges=(exchange(tokens=1_000_000),))

    receipt = receipt_of(
        WINDOW,
        replace(asked, prices=ModelPrices(input=2.0, output=10.0, currency="EUR")),
        [],
        model="a/b",
    )

    assert {"amount": 2.00001, "currency": "EUR"} == receipt["cost"]


def deep(levels: int) -> JsonObject:
    """Return an object of so many levels."""
    value: dict[str, Json] = {}
    for _ in range(levels - 1):
        value = {"a": value}
    return value


HOSTILE = (
    ModelExchanges(refused=tuple(refused("no" * 10_000) for _ in range(300))),
    ModelExchanges(refused=(refused("no", deep(32)),)),
    ModelExchanges(refused=tuple(refused("no", {"a": "\u8336" * 100_000}) for _ in range(100))),
    ModelExchanges(refused=(refused("\ud800\0"),)),
    ModelExchanges(exchanges=tuple(exchange("\u8336" * 1_000_000) for _ in range(9))),
    ModelExchanges(exchanges=(exchange("\ud800\0" * 10),)),
    ModelExchanges(
        exchanges=(exchange(calls=[ToolCall(name="\ud800", arguments="\0", id="\ud800")] * 10_000),)
    ),
    ModelExchanges(exchanges=(exchange(calls=[ToolCall(name="n", arguments=deep(900))]),)),
    ModelExchanges(
        exchanges=(exchange(calls=[ToolCall(name="n", arguments={"a": float("nan")})]),)
    ),
    ModelExchanges(exchanges=(exchange(calls=[ToolCall(name="n", arguments={"a": 10**5_000})]),)),
    ModelExchanges(
        exchanges=(exchange(turns=[Turn(role="tool", text="\ud800", answers="\ud800" * 999)]),)
    ),
)


@pytest.mark.parametrize("asked", HOSTILE, ids=range(len(HOSTILE)))
def test_a_receipt_of_anything_can_be_kept(asked: ModelExchanges) -> None:
    """Whatever a model wrote: its store takes it, and what was cut is told."""
    outcomes = [outcome("refused", reason="no " * 5_000)] * 500

    receipt = kept(asked, outcomes, reason="\ud800\0 failed")

    assert asked.calls == receipt["calls"]
    assert {"refused": 500} == receipt["counts"]
    for name, of in (("outcomes", outcomes), ("refused", asked.refused)):
        listed = receipt[name]
        assert len(of) == len(listed) + receipt.get(f"{name}_left_out", 0)


@given(st.text())
def test_any_text_is_kept_so_that_it_can_be_read(text: str) -> None:
    """What a store can hold is kept as it is."""
    found = kept_text(text)

    found.encode()
    assert "\0" not in found
    if "\0" not in text and text.isprintable():
        assert text == found


def test_a_long_text_is_cut_and_says_so() -> None:
    found = kept_text("x" * (TEXT_CHARACTERS_MAX + 7))

    assert found.endswith("… (7 more characters)")


def test_what_was_asked_is_counted() -> None:
    """Calls, and tokens in both directions."""
    grounded = (Grounded(operation=refused("x")[0], grounds=Grounds()),)
    asked = ModelExchanges(grounded=grounded, exchanges=(exchange(tokens=5), exchange(tokens=7)))

    assert (2, 14) == (asked.calls, asked.tokens)
