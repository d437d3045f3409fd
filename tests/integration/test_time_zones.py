"""Days are those of the speaker: in a model's request, its answer, a prompt and a question."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import recollect
from recollect.errors import UsageError
from recollect.formation.config import Assistants, FormationSettings
from recollect.ports import ModelRequest, ToolCall
from recollect.recall.query_analysis import days_of, read_question
from recollect.recall.signals import lifted
from recollect.records import NewMessage, Scope
from recollect.testing import FrozenClock, ScriptedModel
from recollect.text.time_zones import read_zone

MEI: Scope = ("mei",)
# On the 4th in Taipei, on the 3rd in UTC.
SAID = datetime(2026, 3, 3, 23, 30, tzinfo=UTC)
TAIPEI = FormationSettings(time_zone="Asia/Taipei")
NOTE = (
    '{"value": {"content": "Mei moved on 3 March 2026."}, "because": ["1: I moved yesterday"],'
    ' "since": "2026-03-03"}'
)


@pytest.fixture(params=["memory:", "sqlite"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return str(tmp_path / "memory.db") if request.param == "sqlite" else "memory:"


def answer(request: ModelRequest) -> list[ToolCall]:
    """Answer as a model that reads the day in the request would."""
    assert "Wed 2026-03-04 07:30" in request.turns[0].text
    return [ToolCall(name="Note", arguments=NOTE)]


@pytest.mark.parametrize("by", ["settings", "scope", "thread"])
async def test_yesterday_is_the_speakers(address: str, by: str) -> None:
    """The zone is set for all, for a scope and what is below it, or with a thread."""
    by_scope = Assistants(named={"tw": TAIPEI}, scopes={MEI: "tw"})
    formation = by_scope if by == "scope" else TAIPEI if by == "settings" else None
    settings = {"time_zone": "Asia/Taipei"} if by == "thread" else {}
    async with recollect.open(
        address,
        embedder="none",
        model=ScriptedModel(answer),
        formation=formation,
        worker=False,
        clock=FrozenClock(SAID + timedelta(hours=1)),
    ) as memory:
        said = NewMessage(role="user", text="I moved yesterday.", time=SAID)
        await memory.append(MEI, "t", [said], settings=settings)

        (formed,) = await memory.form(MEI)
        context = await memory.context(MEI, "When did I move?", asked_at=None)
        told = await memory.context(
            MEI, "When did I move?", asked_at=datetime(2026, 3, 5, tzinfo=read_zone("+08:00"))
        )

        (note,) = (await memory.memories(MEI)).rows

    assert ["stored"] == [each.action for each in formed.outcomes]
    assert datetime(2026, 3, 3, tzinfo=UTC) == note.valid_from
    assert "# Wed 4 March 2026" in str(told)
    assert ("# Wed 4 March 2026" in str(context)) == (by != "thread")


async def test_without_a_zone_days_are_counted_in_utc() -> None:
    """The control: the same words were said on another day, and the answer's day is not theirs."""
    requests = list[str]()

    def same(request: ModelRequest) -> list[ToolCall]:
        requests.append(request.turns[0].text)
        return [ToolCall(name="Note", arguments=NOTE)]

    async with recollect.open(
        "memory:", embedder="none", model=ScriptedModel(same), worker=False
    ) as memory:
        said = NewMessage(role="user", text="I moved yesterday.", time=SAID)
        await memory.append(MEI, "t", [said])
        await memory.form(MEI)
        found = (await memory.memories(MEI, state="active")).rows

    assert not any(each.valid_from for each in found)
    assert "Tue 2026-03-03 23:30" in requests[0]


MORNING = SAID + timedelta(minutes=5)
NEXT_DAY = datetime(2026, 3, 4, tzinfo=UTC)


@pytest.mark.parametrize(
    ("zone", "since", "until", "is_found"),
    [
        ("Asia/Taipei", NEXT_DAY, None, True),
        ("Asia/Taipei", None, NEXT_DAY, False),
        ("UTC", NEXT_DAY, None, False),
        ("UTC", None, NEXT_DAY, True),
        ("America/Lima", NEXT_DAY, None, False),
        # A moment is one everywhere.
        ("Asia/Taipei", MORNING + timedelta(minutes=1), None, False),
        ("Asia/Taipei", None, MORNING + timedelta(minutes=1), True),
    ],
)
async def test_a_day_since_which_something_holds_begins_where_it_is_asked(
    address: str, zone: str, since: datetime | None, until: datetime | None, *, is_found: bool
) -> None:
    """At 07:35 in Taipei it is the 4th there, and the 3rd in UTC."""
    async with recollect.open(
        address,
        embedder="none",
        formation=FormationSettings(time_zone=zone),
        worker=False,
        clock=FrozenClock(MORNING),
    ) as memory:
        value = {"content": "Mei eats no meat.", "context": "food"}
        await memory.put(MEI, "Note", "k", value, valid_from=since, valid_until=until)

        found = [await memory.recall(MEI, "What does Mei eat?") for _ in range(2)]
        other = await memory.recall(MEI, "What does Mei eat?", asked_at=MORNING)

    assert [is_found, is_found] == [bool(each.entries) for each in found]
    in_utc = until is not None if NEXT_DAY in {since, until} else is_found
    assert in_utc == bool(other.entries)


def test_a_day_of_a_question_begins_at_the_midnight_of_its_zone() -> None:
    """Eight hours earlier in Taipei."""
    asked = datetime(2026, 3, 4, 7, tzinfo=read_zone("Asia/Taipei"))
    here = read_question("What did I say yesterday?", asked.date(), timedelta(hours=8))
    utc = read_question("What did I say yesterday?", asked.date())

    ours, theirs = (lifted(days_of(each, [])[0], each.utc_offset) for each in (here, utc))

    eight_hours = 8 * 3_600 * 1_000_000
    assert (theirs[0] - eight_hours, theirs[1] - eight_hours) == ours


@pytest.mark.parametrize("name", ["Mars/Olympus", "", "+99:00", "../etc/passwd"])
def test_an_unknown_zone_is_named(name: str) -> None:
    with pytest.raises(UsageError, match="unknown time zone"):
        FormationSettings(time_zone=name)
