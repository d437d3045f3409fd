"""What is right in an answer is read, in whatever form a model puts it."""

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

import pytest

from recollect.formation.answer import read_answer
from recollect.formation.grounding.grounds import Grounds, decide
from recollect.formation.grounding.validity import end_of, moment_of
from recollect.formation.offer import offer_of
from recollect.formation.operations import Insert, Operation, Patch
from recollect.formation.support import HeardWindow
from recollect.formation.types import NOTE, USER
from recollect.formation.window import Window, WindowLine
from recollect.models import CallableModel
from recollect.models.structured_output import PromptedModel
from recollect.ports import Model, ModelAnswer, ModelRequest, ToolCall, Turn
from recollect.records import Json, Role
from tests.harness.sample_contents import sample_memory, sample_message

AT: Final = datetime(2023, 3, 15, 9, tzinfo=UTC)  # a Wednesday
VALUE: Final[dict[str, Json]] = {"context": "boats", "content": "owns a boat"}
ARGUMENTS: Final[dict[str, Json]] = {"value": VALUE, "because": ["1: I own a boat"]}
PROFILE: Final = sample_memory(type="User", key="User", value={"home": "Oslo"}, at=AT)
OFFER: Final = offer_of((USER, NOTE), (PROFILE,), "")


def read(answer: ModelAnswer) -> tuple[Operation, ...]:
    """Return the operations of an answer that has no fault."""
    reading = read_answer(answer, OFFER)
    assert () == reading.faults
    assert reading.is_whole
    return reading.operations


@pytest.mark.parametrize(
    "written",
    [
        [{"name": "Note", "arguments": ARGUMENTS}],
        {"name": "Note", "arguments": json.dumps(ARGUMENTS)},
        [{"tool": "Note", "input": ARGUMENTS}],
        [{"type": "Note", **ARGUMENTS}],
        [{"tool": "Note", **ARGUMENTS}],
        [{"tool": "Note", **VALUE, "because": "1: I own a boat"}],
        {"type": "function", "function": {"name": "Note", "arguments": ARGUMENTS}},
        {"tool_calls": [{"id": "a", "name": "Note", "arguments": ARGUMENTS}]},
        {"Note": ARGUMENTS},
        {"Note": [ARGUMENTS]},
    ],
)
@pytest.mark.parametrize(
    "form", ["{}", "```json\n{}\n```", "Here it is:\n```\n{}\n```\nDone.", "Sure: {}"]
)
def test_calls_are_read_from_text(written: Json, form: str) -> None:
    """A plain list, an object for a list, with Markdown and words around it."""
    (insert,) = read(ModelAnswer(text=form.replace("{}", json.dumps(written), 1)))

    assert isinstance(insert, Insert)
    assert VALUE == insert.value


def test_an_empty_list_says_that_there_is_nothing() -> None:
    """And the name of its tool; other words alone do not."""
    for text in (
        "[]",
        '{"calls": []}',
        "```json\n[]\n```",
        "remember_nothing",
        "`remember_nothing()`.",
    ):
        assert () == read(ModelAnswer(text=text))
    for text in (
        "nothing",
        "{}",
        '{"calls": {}}',
        "I call remember_nothing later",
        "[1]",
        '{"note": {}}',
        "[" * 5_000,
        "```json\n[\n```",
    ):
        assert not read_answer(ModelAnswer(text=text), OFFER).is_whole


@pytest.mark.parametrize(
    "written",
    [
        [{"tool": "Note", "arguments": ARGUMENTS}],
        [{"tool": "Note", **ARGUMENTS}],
        {"tool": "Note", **VALUE, "because": "1: I own a boat"},
        [{"name": "Note", "arguments": ARGUMENTS}],
        [{"Note": ARGUMENTS}],
    ],
)
@pytest.mark.parametrize("prompted", [False, True])
@pytest.mark.anyio
async def test_a_list_of_calls_is_as_good_as_tool_calls(written: Json, *, prompted: bool) -> None:
    """From a function that answers in text, and from a model that is told of tools in words."""

    async def ask(_: ModelRequest) -> str:
        return f"Here:\n```json\n{json.dumps(written)}\n```"

    async def none(_: ModelRequest) -> str:
        return '{"calls": []}'

    request = ModelRequest(
        system="S", turns=(Turn(role="user", text="Hi"),), tools=OFFER.tools, must_call=True
    )
    models: list[Model] = [CallableModel(ask), CallableModel(none)]
    if prompted:
        models = [PromptedModel(each) for each in models]
    (insert,) = read(await models[0].answer(request))

    assert isinstance(insert, Insert)
    assert VALUE == insert.value
    assert () == read(await models[1].answer(request))


def test_text_beside_calls_is_no_call() -> None:
    """An answer that called tools has said all it says."""
    other = json.dumps([{"name": "Note", "arguments": ARGUMENTS}])
    call = ToolCall(name="remember_nothing", arguments="{}")

    assert () == read(ModelAnswer(text=other, calls=(call,)))


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("Note", {**VALUE, "because": "1: I own a boat"}),
        ("Note", {"content": "owns a boat", "because": ["1: I own a boat"]}),
        ("Note", {"value": {"content": "owns a boat"}, "because": "1: I own a boat"}),
        ("Note", {"value": json.dumps(VALUE), "because": "1: I own a boat"}),
        ("Note", [ARGUMENTS]),
        ("Note", f"```json\n{json.dumps(ARGUMENTS)}\n```"),
    ],
)
def test_arguments_of_an_insertion_are_read_without_a_level(
    name: str, arguments: str | Sequence[Json] | Mapping[str, Json]
) -> None:
    """Flat, without a context, in a fence, one object for a list."""
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)

    (insert,) = read(ModelAnswer(calls=(ToolCall(name=name, arguments=text),)))

    assert isinstance(insert, Insert)
    assert "owns a boat" == insert.value["content"]
    assert "I own a boat" == insert.because[0].quote


@pytest.mark.parametrize(
    "arguments",
    [
        {"id": "m1", "op": "replace", "path": "/home", "value": "Bergen", "because": "1: Bergen"},
        {"id": "m1", "path": "/home", "value": "Bergen", "because": "1: Bergen"},
        {"id": "m1", "changes": {"op": "add", "path": "/home", "value": "Bergen",
                                 "because": "1: Bergen"}},
        {"id": "m1", "changes": [{"op": "replace", "path": "/home", "value": "Bergen"}],
         "because": "1: Bergen"},
        {"id": "m1", "changes": [{"op": "replace", "path": "/home", "value": "Bergen",
                                  "because": ["1: Bergen"], "since": "2023-03"}]},
        {"id": "m1", "since": "2023-03", "until": None,
         "changes": [{"path": "/home", "value": "Bergen", "because": ["1: Bergen"]}]},
    ],
)  # fmt: skip
def test_arguments_of_a_patch_are_read_without_a_level(arguments: Mapping[str, Json]) -> None:
    """Flat, one change for a list, cited once for all; when it is true is that it was said."""
    call = ToolCall(name="patch_memory", arguments=arguments)

    (patch,) = read(ModelAnswer(calls=(call,)))

    assert isinstance(patch, Patch)
    assert ("/home", "Bergen") == (
        patch.changes[0].operation["path"],
        patch.changes[0].operation["value"],
    )


def talk(*said: str, roles: Sequence[Role] = ()) -> Window:
    """Return a window of new messages, the user's where no role is given."""
    lines = tuple(
        WindowLine(
            number=n,
            text=text,
            new=True,
            message=sample_message(
                thread="t",
                id=f"i{n}",
                position=n,
                text=text,
                time=AT,
                role=roles[n - 1] if roles else "user",
            ),
        )
        for n, text in enumerate(said, start=1)
    )
    return Window(scope=("u",), lines=lines, watermarks={})


def decided(window: Window, content: str, because: str, **dates: Any) -> tuple[Insert, Grounds]:
    """Return what becomes of one note."""
    arguments = {"value": {"content": content}, "because": because, **dates}
    call = ToolCall(name="Note", arguments=json.dumps(arguments))
    (operation,) = read(ModelAnswer(calls=(call,)))
    whole, grounds = decide(operation, HeardWindow(window, OFFER))
    assert isinstance(whole, Insert)
    return whole, grounds


@pytest.mark.parametrize(
    ("said", "content"),
    [
        ("I moved to Bergen in January", "moved to Bergen"),
        ("我一月搬到了杭州", "搬到了杭州"),
        ("我一月搬到了高雄", "搬到了高雄"),
    ],
)
@pytest.mark.parametrize("since", ["2019-07-01", "some day", "soon", "x", "2023-13-45", 2019])
def test_a_wrong_date_is_left_out_and_the_memory_stays(
    said: str, content: str, since: object
) -> None:
    """With a note that says which."""
    operation, grounds = decided(talk(said), content, f"1: {said}", since=since)

    assert ((), (), None) == (grounds.faults, grounds.doubts, operation.since)
    assert grounds.notes[0].startswith("left out: since")


@pytest.mark.parametrize(
    ("said", "since", "moment"),
    [
        ("I moved there in January", "2023-01", "2023-01-01"),
        ("I moved there in January", "January 2023", "2023-01-01"),
        ("我一月搬过去的", "2023年1月", "2023-01-01"),
        ("我一月搬過去的", "2023年1月", "2023-01-01"),
        ("since last year", "2022", "2022-01-01"),
        ("I live there", "2023-03", "2023-03-01"),
        ("last week", "2023-03-06", "2023-03-06"),
    ],
)
def test_a_date_of_any_precision_is_an_interval(said: str, since: str, moment: str) -> None:
    """A month begins with its first day, and ends with its last."""
    operation, grounds = decided(talk(said), said, f"1: {said}", since=since)

    assert (since, ()) == (operation.since, grounds.notes)
    assert moment == str(moment_of(since))[:10]


@pytest.mark.parametrize(
    ("content", "since"),
    [("takes over on 4 May", None), ("takes over", "2023-05-04")],
)
def test_a_plan_that_names_its_day_is_not_hidden_until_then(
    content: str, since: str | None
) -> None:
    """Who asks for plans must find it; a note that does not tell the day keeps it as its since."""
    said = "Jolanta takes over on 4 May"
    operation, grounds = decided(talk(said), f"Jolanta {content}", f"1: {said}", since="2023-05-04")

    assert (since, since is None) == (operation.since, bool(grounds.notes))


def test_a_date_of_the_message_before_is_told() -> None:
    """A memory that is true until a day need not cite the message that names it."""
    window = talk("Marcus leaves on 30 April", "I collect for his gift")
    operation, grounds = decided(
        window, "The user collects for a gift", "2: I collect for his gift", until="2023-04-30"
    )

    assert ("2023-04-30", ()) == (operation.until, grounds.notes)


def test_an_interval_ends_when_it_is_over() -> None:
    """A day too: a dinner that a note holds "until the 24th" is still to come that morning."""
    assert ["2023-01-31", "2023-12-31", "2023-05-07"] == [
        str(end_of(each))[:10] for each in ("January 2023", "2023", "2023-05-07")
    ]
    evening, end = moment_of("2023-05-07T20:00:00+00:00"), end_of("2023-05-07")
    assert evening is not None
    assert end is not None
    assert evening < end
    assert end_of("2023-05-07T10:00:00+00:00") == moment_of("2023-05-07T10:00:00+00:00")
    assert moment_of("5/7/2024") is None  # in May or in July
    assert end_of("soon") is None


@pytest.mark.parametrize(
    "said", ["we meet in the week of 6 to 12 March", "我们三月6日到12日见", "我們三月6日到12日見"]
)
def test_a_week_may_be_told_by_its_days(said: str) -> None:
    """What was said of last week is of its days."""
    week = {"w": "last week", "们": "上周", "們": "上週"}[said[0] if said[0] == "w" else said[1]]
    _, grounds = decided(talk(f"{week} I was ill" if week.isascii() else week), said, f"1: {week}")

    assert [] == [each for each in grounds.faults if each.kind == "claim"]


@pytest.mark.parametrize(
    ("lines", "because"),
    [
        (("I own a boat", "hello there", "it is raining"), "3: I own a boat"),
        (("hello", "我养了一条船", "下雨了"), "1: 我养了一条船"),
        (("hello", "我養了一條船", "下雨了"), "3: 我養了一條船"),
    ],
)
def test_a_quote_under_a_wrong_number_is_found(lines: Sequence[str], because: str) -> None:
    """And cited from where it was said."""
    quote = because.partition(": ")[2]
    operation, grounds = decided(talk(*lines), quote, because)

    assert () == grounds.faults
    assert [quote] == [lines[operation.because[0].message - 1]]
    assert "another message" in grounds.notes[0]


def test_a_quote_that_is_found_has_the_trust_of_its_speaker() -> None:
    """A wrong number makes no user's words of a tool's; and a short quote is not looked for."""
    window = talk("please look it up", "The boat costs 300", roles=("user", "tool"))

    _, tool = decided(window, "The boat costs 300", "1: The boat costs 300")
    _, short = decided(talk("I own a boat", "hello"), "owns a boat", "2: boat")
    _, invented = decided(talk("I own a boat", "hello"), "owns a car", "2: I own a car")
    _, nowhere = decided(talk("I own a boat", "hello"), "owns a boat", "9: I own a boat")

    assert ["quote"] == [each.kind for each in tool.faults]  # no user's message causes it
    assert ["quote"] == [each.kind for each in short.faults]
    assert ["quote"] == [each.kind for each in invented.faults]
    assert ["quote", "quote"] == [each.kind for each in nowhere.faults]


def test_a_known_alias_is_noted_and_another_name_lowers_trust() -> None:
    """None is asked for again, unless it stands in place of a name that was said."""
    said = "I hold MSFT and I saw the RKM in town"

    _, known = decided(talk(said), "holds Microsoft", f"1: {said}")
    _, possible = decided(talk(said), "saw the Rijksmuseum in town", f"1: {said}")
    _, wrong = decided(talk(said), "holds MSFT and Siemens, saw the RKM", f"1: {said}")
    _, exchanged = decided(talk(said), "holds Siemens", f"1: {said}")

    assert ((), (), 1) == (known.faults, known.doubts, len(known.notes))
    assert ("user", "assistant", "assistant") == (known.trust, possible.trust, wrong.trust)
    assert ((), (), 1) == (possible.faults, possible.doubts, len(possible.remarks))
    assert ((), (), 1) == (wrong.faults, wrong.doubts, len(wrong.remarks))
    assert ["claim"] == [each.kind for each in exchanged.faults]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("**Disclosure Requirement**: tell the buyer", "we must tell the buyer what is disclosed"),
        ("Budget Constraints: at most 300", "at most 300 for the budget"),
        ("Travel Planning Framework:\n- fly to Rome", "the plan is to fly to Rome"),
        ("预算 Budget：300", "budget 300"),
    ],
)
def test_a_heading_is_no_name(content: str, said: str) -> None:
    """Its capitals say only that it is one."""
    _, grounds = decided(talk(said), content, f"1: {said}")

    assert [] == [each for each in grounds.remarks if "name" in each]


@pytest.mark.parametrize(
    "content", ["Anna Berg: manager", "Lives In Paris: yes", "GreenLeaf Plan:"]
)
def test_a_name_in_a_heading_is_one(content: str) -> None:
    """If nothing in it is a word, or it is written as no word is."""
    _, grounds = decided(talk("my manager lives here, yes"), content, "1: my manager lives here")

    assert any("the name" in each for each in grounds.remarks)
