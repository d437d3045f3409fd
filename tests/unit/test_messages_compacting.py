"""A compacted talk: what a prompt shows of it is valid, and nothing of it is lost unseen."""

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.errors import UsageError
from recollect.messages import (
    AIMessage,
    AnyMessage,
    Compaction,
    CompactionLimits,
    HumanMessage,
    SystemMessage,
    ToolMessage,
    compacted,
    is_summary,
    kind_of,
    plan_compaction,
    whole_pairs,
)
from recollect.records import JsonObject

TURNS = st.lists(st.integers(0, 3), max_size=12)


def talk_of(turns: Sequence[int], *, system: bool = True) -> list[AnyMessage]:
    """Return a talk of turns, each a question, so many calls of tools, and an answer."""
    talk: list[AnyMessage] = [SystemMessage("Be kind.", id="s")] if system else []
    for number, calls in enumerate(turns):
        talk.append(HumanMessage(f"question {number}", id=f"q{number}"))
        for call in range(calls):
            name = f"{number}.{call}"
            called: JsonObject = {"name": "look", "args": {}, "id": name}
            talk.append(AIMessage("", id=f"c{name}", tool_calls=[called]))
            talk.append(ToolMessage("seen", id=f"t{name}", tool_call_id=name))
        talk.append(AIMessage(f"answer {number}", id=f"a{number}"))
    return talk


def breaches(talk: Sequence[AnyMessage], limits: CompactionLimits) -> list[str]:
    """Return what is wrong with what prompts show of a talk that grows message by message."""
    found: list[str] = []
    compaction: Compaction | None = None
    unread = {each.id for each in talk if kind_of(each) != "system"}
    summarised: set[str | None] = set()
    for end in range(1, len(talk) + 1):
        so_far = talk[:end]
        plan = plan_compaction(so_far, limits, compaction=compaction)
        if plan is not None:
            ids = {each.id for each in plan.old}
            if ids & summarised:
                found.append("a message is summarised twice")
            summarised |= ids
            said = f"{plan.summary or ''}+{len(ids)}"
            compaction = Compaction(through=str(plan.old[-1].id), summary=said)
        shown = compacted(so_far, compaction)
        body = [each for each in shown if kind_of(each) != "system"]
        if whole_pairs(body, so_far) != body:
            found.append("half of a pair is shown")
        if so_far[-1] not in shown:
            found.append("the last message is not shown")
        if body and kind_of(body[0]) != "human":
            found.append("it does not begin with a person's message")
        asked = [each for each in so_far if kind_of(each) == "human"]
        if asked and asked[-1] not in shown:
            found.append("the question is not shown")
        there = {each.id for each in shown} | summarised
        if {each.id for each in so_far} & unread - there:
            found.append("a message is neither shown nor summarised")
        if sum(is_summary(each) for each in shown) > 1:
            found.append("there are two summaries")
    return found


@given(TURNS, st.integers(1, 6), st.integers(2, 12))
@settings(max_examples=200)
def test_a_compacted_talk_is_whole(turns: list[int], keep: int, trigger: int) -> None:
    """Pairs stay whole, the question and the last message stay, and nothing is left unread."""
    limits = CompactionLimits(trigger_messages=trigger, keep=keep)

    assert [] == breaches(talk_of(turns), limits)


def test_a_cut_that_carries_no_question_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """The mutant shows only the rest, which can begin with a call."""
    from recollect.messages import compaction as compacting

    whole = compacting.compacted

    def without_question(
        messages: Sequence[AnyMessage], compaction: Compaction | None
    ) -> list[AnyMessage]:
        shown = whole(messages, compaction)
        return shown if compaction is None else [e for e in shown if kind_of(e) != "human"]

    monkeypatch.setitem(globals(), "compacted", without_question)

    assert [] != breaches(talk_of([3, 3]), CompactionLimits(trigger_messages=4, keep=1))


def test_requests_begin_alike_between_two_cuts() -> None:
    """What stays is not moved by each message, as a window would: a prompt cache serves it."""
    limits = CompactionLimits(trigger_messages=8, keep=2)
    talk = talk_of([0] * 20)
    compaction: Compaction | None = None
    begun = 0
    before: list[AnyMessage] = []
    for end in range(1, len(talk) + 1):
        plan = plan_compaction(talk[:end], limits, compaction=compaction)
        if plan is not None:
            compaction = Compaction(through=str(plan.old[-1].id))
        shown = compacted(talk[:end], compaction)
        begun += shown[: len(before)] != before
        before = shown

    assert 7 == begun  # a window that moves with each message: 33 times


def test_tokens_decide_how_much_stays() -> None:
    """The end stays that costs at most half of the trigger, and the last message always."""
    talk: list[AnyMessage] = [HumanMessage("word " * 50, id=str(at)) for at in range(6)]
    limits = CompactionLimits(trigger_tokens=200)

    plan = plan_compaction(talk, limits)

    assert plan is not None
    assert ["5"] == [each.id for each in plan.kept]


def test_a_compaction_whose_message_is_gone_leaves_nothing_out() -> None:
    talk = talk_of([0, 0], system=False)

    assert talk == compacted(talk, Compaction(through="gone"))


def test_system_messages_at_the_beginning_stay() -> None:
    talk = talk_of([0, 0])

    shown = compacted(talk, Compaction(through="a0", summary="It was asked."))

    assert ["s", None, "q1", "a1"] == [each.id for each in shown]


@pytest.mark.parametrize("options", [{}, {"trigger_messages": 0}, {"trigger_tokens": 9, "keep": 0}])
def test_limits_that_say_nothing_are_refused(options: dict[str, int]) -> None:
    with pytest.raises(UsageError):
        CompactionLimits(**options)
