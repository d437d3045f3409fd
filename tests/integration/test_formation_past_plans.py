"""Plans whose day has gone are offered, marked as such, and ended by the user's words alone."""

from datetime import UTC, date, datetime, timedelta
from typing import Final

import pytest

import recollect
from recollect.formation.config import FormationLimits, FormationSettings
from recollect.formation.past_plans import PLANS_MAX, passed_day, recent_plans
from recollect.formation.prompt_texts import TEXTS, PromptLanguage
from recollect.formation.rule_requests import shown_in
from recollect.ports import ModelRequest, ToolCall
from recollect.records import JsonObject, Memory, NewMessage
from recollect.testing import FrozenClock, ScriptedModel
from tests.harness.sample_contents import sample_memory

SAID: Final = datetime(2026, 5, 1, 12, tzinfo=UTC)
TODAY: Final = date(2026, 5, 20)
SCOPE: Final = ("users", "ada")


def memory(
    content: str,
    type_: str = "Note",
    since: datetime | None = None,
    until: datetime | None = None,
) -> Memory:
    """Return a note that was said on 1 May."""
    key = "User" if type_ == "User" else content[:40]
    return sample_memory(
        scope=SCOPE,
        type=type_,
        key=key,
        value={"content": content},
        at=SAID,
        valid_from=since,
        valid_until=until,
        said_at=SAID,
    )


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("Has an interview at the bank on 14 May 2026", date(2026, 5, 14)),
        ("Interview: 2026-05-14, exam: 2026-05-16", date(2026, 5, 16)),
        ("Interview on May 14th, 2026", date(2026, 5, 14)),
        ("Was away in April 2026, from 31 February 2026 on", None),
        ("Moved in March 2026", None),
        ("2026年5月14日去银行面试", date(2026, 5, 14)),
        ("2026年5月14號去銀行面試", date(2026, 5, 14)),
        ("二〇二六年五月十四日去銀行面試", None),
        ("Interview on 14 May 2026, answer by 30 May 2026", None),
        ("Was born on 3 April 1990", None),
        ("Learns Italian on Tuesdays", None),
        ("Her birthday is on 14 May", None),
        ("每週二上義大利文課", None),
        ("Moves in 2026", None),
        ("Said on 1 May 2026 that she is tired", None),
        ("Runs 5 km in 25 minutes", None),
        ("", None),
        ("5월 14일에 면접이 있다", None),
        ("لديها مقابلة في 14 مايو", None),
        ("14 मई को साक्षात्कार है", None),
        ("Hat am 14. Mai ein Gespräch", None),
        ("Tiene una entrevista el 14 de mayo", None),
        ("\ud800 99/99/9999 2026-13-45", None),
    ],
)
def test_a_plan_names_a_day_that_was_to_come(content: str, expected: date | None) -> None:
    """With its year; what may recur, or cannot be read, is no plan."""
    assert expected == passed_day(memory(content), TODAY)


def test_the_beginning_of_a_memory_is_a_day_too() -> None:
    """But not what has ended, a document, or what was said today."""
    later, until = SAID + timedelta(days=9), SAID + timedelta(days=10)
    plan = memory("Moves to Hull", since=later)

    assert later.date() == passed_day(plan, TODAY)
    assert None is passed_day(memory("Moves to Hull", since=later, until=until), TODAY)
    assert None is passed_day(memory("Moves to Hull", "User", since=later), TODAY)
    assert None is passed_day(plan, SAID.date())
    assert None is passed_day(plan, later.date())


def test_the_plans_that_went_last_come_first() -> None:
    """A few of them, and none that went long ago."""
    plans = [memory(f"Exam {n} on 2026-05-{n}") for n in range(10, 19)]

    found = recent_plans([*plans, memory("Tea")], TODAY)

    assert [f"Exam {n} on 2026-05-{n}" for n in (18, 17, 16)] == [each.key for each in found]
    assert PLANS_MAX == len(found)
    assert [] == recent_plans(plans, date(2026, 9, 1))


TALKS: Final[dict[PromptLanguage, tuple[str, str, str]]] = {
    "en": ("Has an interview at the bank on 2026-05-14", "I had soup.", "The interview is over."),
    "zh": ("2026年5月14日去银行面试", "我喝了汤。", "面试已经结束了。"),
    "zh-hant": ("2026年5月14日去銀行面試", "我喝了湯。", "面試已經結束了。"),
}


OTHERS: Final = [
    "has a green bike",
    *(f"has a {each}" for each in "boat tent drum lamp kite harp sofa desk oven".split()),
]


async def offered(
    language: PromptLanguage, said: str, because: str = "", days: int = 19
) -> tuple[str, Memory]:
    """Return what is shown so many days after a plan was kept, and the plan if it is ended so."""
    content = TALKS[language][0]

    def answer(request: ModelRequest) -> ToolCall:
        ids = [id_ for id_, _, value in shown_in(request).known if value["content"] == content]
        arguments: JsonObject = {"id": ids[0], "because": f"1: {because}"} if because else {}
        return ToolCall(name="end_memory" if because else "remember_nothing", arguments=arguments)

    clock, model = FrozenClock(SAID), ScriptedModel(answer)
    settings = FormationSettings(limits=FormationLimits(existing_memories=4))
    async with recollect.open(
        embedder="none", worker=False, model=model, clock=clock, formation=settings
    ) as held:
        notes = {"plan": content, **{each: each for each in OTHERS}}
        for key, each in notes.items():
            await held.put(SCOPE, "Note", key, {"context": "c", "content": each})
            clock.advance(60)
        clock.advance(days * 86_400)
        await held.append(SCOPE, "t", [NewMessage(role="user", text=said)])
        await held.form(SCOPE)
        plan = await held.get(SCOPE, "Note", "plan")
        assert plan is not None
        return model.requests[0].turns[0].text, plan


@pytest.mark.parametrize("language", TALKS)
async def test_a_plan_whose_day_has_gone_is_offered(language: PromptLanguage) -> None:
    """Whatever is said; before its day and long after it, only as it bears on what is said."""
    content, other, _ = TALKS[language]

    after, before, late = [(await offered(language, other, days=n))[0] for n in (19, 5, 200)]

    assert f' Note ({TEXTS[language].past}) {{"context":"c","content":"{content}' in after
    assert content not in before
    assert content not in late


@pytest.mark.parametrize("language", TALKS)
async def test_it_ends_by_the_users_words(language: PromptLanguage) -> None:
    """And stays where the words are about another memory."""
    over, about_another = TALKS[language][2], "I sold the green bike."

    _, ended = await offered(language, over, over)
    _, kept = await offered(language, about_another, about_another)

    assert ended.valid_until is not None
    assert kept.valid_until is None
