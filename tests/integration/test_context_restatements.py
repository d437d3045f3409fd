"""An assistant's turn that only says again what the user said is not shown beside it."""

import pytest

import recollect
from recollect.recall import context_selection, restatements
from recollect.recall.restatements import is_restatement
from recollect.records import NewMessage, Scope

CLARA: Scope = ("clara",)
FLAT = "I've settled in Antwerp, the flat is in Berchem, rent is 1,050 euros."
FLAT_AGAIN = "Great to hear that you have settled in Antwerp, in Berchem, at 1,050 euros rent."


async def told(query: str, *turns: str) -> list[str]:
    """Return what a context shows of *turns*, the user's and the assistant's by turns."""
    talk = [
        NewMessage(role="assistant" if at % 2 else "user", text=text)
        for at, text in enumerate(turns)
    ]
    async with recollect.open("memory:", embedder="none", worker=False) as memory:
        await memory.append(CLARA, "t", talk)
        found = await memory.context(CLARA, query)
    return [each.entry.content.text for each in found.entries]


@pytest.mark.parametrize(
    ("said", "answer"),
    [
        (FLAT, FLAT_AGAIN),
        ("I quit. From today I work as a nurse.", "Noted: you work as a nurse from today."),
        ("I'm Clara, I live in Ghent.", "Nice to meet you, Clara! How can I help you today?"),
        ("Nora has got her yellow belt!", "Congratulations to Nora on her yellow belt!"),
        ("我上周搬到苏州了，租金每月 3200。", "好的，您上周搬到苏州，租金每月 3200。"),
        ("豆花的藥減到一顆了，我們下個月搬家。", "好消息！豆花的藥減到一顆，你們下個月搬家。"),
        ("我叫陈静，住在杭州。", "你好，陈静！很高兴认识你。"),
    ],
)
def test_what_only_confirms_is_known(said: str, answer: str) -> None:
    assert is_restatement(answer, said)


@pytest.mark.parametrize(
    ("said", "answer"),
    [
        ("And we got 3,000 more.", "So the budget is 15,000 dollars."),
        ("Do I live in Ghent?", "You live in Ghent."),
        ("Add milk to the list.", "Added milk to the list."),
        ("I moved to Antwerp.", "You moved to Antwerp?"),
        ("I moved to Antwerp.", "Antwerp has a port."),
        ("The lessons are on Thursday.", "Noted, the lessons are on Tuesday."),
        ("Take 2 pills.", "You take 20 pills."),
        ("word " * 200, "Noted: word."),
        ("I moved to Antwerp.", "Antwerp. " * 40),
        ("我住在哪里？", "我住在哪里。"),
        ("把牛奶加到清单里。", "已经加到清单里。"),
        ("我对虾过敏。", "您对花生过敏。"),
        ("我每天吃 5 毫克。", "您每天吃 15 毫克。"),
        ("我不吃香菜。", "您吃香菜吗？"),
    ],
)
def test_what_says_more_is_no_restatement(said: str, answer: str) -> None:
    assert not is_restatement(answer, said)


async def test_the_users_words_stand_alone() -> None:
    assert [FLAT] == await told("Where is the flat?", FLAT, FLAT_AGAIN)


async def test_the_users_words_take_the_place_of_their_restatement() -> None:
    """Alone, the answer is ranked first, and its source could be left out."""
    said = "By the way, from the first of the month on, and this is final: rent is 950 euros."
    again = "Noted: rent is 950 euros."

    assert [said] == await told("How high is the rent?", said, again)


async def test_who_asks_for_earlier_answers_gets_them() -> None:
    assert FLAT_AGAIN in await told("What did you tell me about the flat?", FLAT, FLAT_AGAIN)


async def test_a_restatement_of_what_is_not_there_is_shown() -> None:
    """Of a question before, which is not a statement, and with no message before."""
    assert "You live in Ghent." in await told(
        "Where in Ghent?", "Is it Ghent?", "You live in Ghent."
    )


async def test_context_with_restatements_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(restatements, "is_restatement", lambda *_: False)
    with pytest.raises(AssertionError):
        await test_the_users_words_stand_alone()


async def test_a_restatement_without_its_source_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """The words of the user must not go with what repeats them."""

    def without_both(ranked: list[object]) -> tuple[list[object], list[object]]:
        return [], list(ranked)

    monkeypatch.setattr(context_selection, "without_restatements", without_both)
    with pytest.raises(AssertionError):
        await test_the_users_words_stand_alone()
