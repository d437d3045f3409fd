"""
Careful rewritings: details that still hold, how something ended, a job that was left.

The requests ask for these, and the readers of eight talks left some of them out: the checks must
let a model that does as it is asked keep them at once.
"""

import copy
import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest

from benchmarks.formation_corpus import Case, read_corpus
from benchmarks.session_replay import SESSIONS, PlayedTalk, played_talk

CORPUS: Final = Path(__file__).parents[1] / "corpus"


class Careful(NamedTuple):
    """
    A text that a careful model writes in a session of a talk.

    It takes the place of what the reader wrote into the field *path* of the memory that said
    *before*; without these it is a new note that cites *because*.
    """

    talk: str
    session: int
    text: str
    before: str = ""
    path: str = "/content"
    because: Sequence[str] = ()


KEPT: Final = {
    "why a trip was off, and where a relative wants to go": Careful(
        "r20-e3",
        4,
        "The October 2025 Toronto trip was off: Nikhil called on Sunday 2025-07-06 that he and "
        "Kaveri were shifting house and Kaveri was joining a new job. It is on again, and Kaveri "
        "is settled in the new house. Sudha had already bought the jackets. Raghu's sister said "
        "they should go to Kashi instead, but she says that for everything.",
        before="Kashi",
    ),
    "why two pupils left": Careful(
        "r20-e3",
        4,
        "Sudha teaches Carnatic vocal at home, Tuesday and Thursday 5:30 pm, to four children "
        "(two of six left for abacus class by July 2025). The fee is 1,500 from July 2025; it was "
        "1,200 a month each. She wants rest and no more students.",
        before="abacus class",
    ),
    "who does the accounts, and rent by the week": Careful(
        "r20-e4",
        4,
        "Kieran shares a house with Brooke, who does the spreadsheet. Since Sydney shot through "
        "before Christmas 2025 it's been 322.50 a week each; Imran moves in on 7 February 2026, "
        "then it goes back to 215 a week each.",
        before="spreadsheet",
    ),
    "why he cancelled": Careful(
        "r20-e4",
        4,
        "Kieran cancelled Kayo on 2025-11-03, as there's no point watching cricket angry; it's "
        "still off in January 2026. He isn't looking to cancel any other subscriptions.",
        before="cricket angry",
    ),
    "what helps against a craving": Careful(
        "r20-s1",
        4,
        "用户以前血糖有点高、少吃甜的，馋烟时嚼黄瓜条；2025-03-04说上礼拜复查正常了，"
        "大夫说正常吃就行",
        before="黄瓜条",
    ),
    "whose room it is": Careful(
        "r20-s2",
        3,
        "用户住主卧；陈静安搬走后，一个月5200的房租用户一个人扛，2025年7月先这样，8月得找到室友",
        before="主卧",
    ),
    "who is not meant": Careful(
        "r20-s2",
        3,
        "静安全名陈静安（不是上海那个静安），用户的前室友，2025年6月底搬走了，去上海上班，"
        "公司就在静安区；用户说过她人其实超好",
        before="不是上海那个静安",
    ),
    "why not to stay there": Careful(
        "r20-t1",
        2,
        "女兒雅婷在台中，她說去日月潭可先住她家；淑惠老師不要，嫌太擠",
        before="嫌太擠",
    ),
    "why the dog went": Careful(
        "r20-t1",
        3,
        "狗狗叫Lucky，2024年9月時十一歲；2024年10月因為要照顧阿源顧不過來，"
        "由女兒雅婷帶去台中，現在就給雅婷養了，有院子跑，不回來了",
        before="顧不過來",
    ),
    "a fee that was paid": Careful(
        "r20-t2",
        4,
        "用戶2025年轉咗更，日文堂2025年9月尾停咗，12月JLPT考試費交咗但冇考；"
        "2026-01-08開始返去讀日文堂",
        before="考試費",
    ),
    "a club that was cancelled": Careful(
        "r20-e1",
        2,
        "Lorraine cancelled the slimming club (£6.25 a week): Tuesday 2024-10-01 was her last.",
        because=[
            "3: I've cancelled the slimming club as well, told Sandra on Tuesday that was my last",
            "3: saves me £6.25",
        ],
    ),
    "a drive that was called off": Careful(
        "r20-s1",
        4,
        "2025年五一不去大连了：大庆年前就离开大连了",
        because=["5: 大连不去了。大庆微信说他在他姐夫那儿干得憋屈,年前就走了"],
    ),
    "a trip that was called off": Careful(
        "r20-t1",
        2,
        "慶祝結婚三十五週年的日月潭旅行（2024年10月底住兩晚）取消了，因為阿源膝蓋開刀",
        because=["1: 日月潭取消了啦。阿源上禮拜膝蓋開刀"],
    ),
    "a former job with its dates": Careful(
        "r20-s2",
        4,
        "自由接单；2023年7月到2025-10-10在公司做记账App的UI，已辞职",
        before="记账App",
        path="/occupation",
    ),
    "a former job in a note": Careful(
        "r20-e2",
        2,
        "Marcus was an HVAC tech at Redbud Air in Tulsa from March 2019; his last day is "
        "2025-04-11.",
        because=["1: put in my notice at Redbud this morning. last day is April 11"],
    ),
}
INVENTED: Final = {
    "another beginning": ("a former job with its dates", "2023年7月", "2021年7月"),
    "another number": ("why two pupils left", "1,200 a month", "1,300 a month"),
    "another rent": ("who does the accounts, and rent by the week", "then it goes back to 215",
                     "then it goes back to 240"),
    "another name": ("why a trip was off, and where a relative wants to go", "Kashi", "Goa"),
}  # fmt: skip
"""A detail of a rewriting that nobody said: which, the words, and what stands there instead."""


@cache
def talks() -> dict[str, Case]:
    """Return the talks of the corpus by their names."""
    return {each["id"]: each for each in read_corpus(CORPUS, SESSIONS)}


def changes_of(calls: Sequence[Case], careful: Careful) -> Iterator[dict[str, Any]]:
    """Yield the change of the reader that the careful text takes the place of."""
    for call in calls:
        if "of" in call and careful.before in json.dumps(call["of"], ensure_ascii=False):
            changes = call["arguments"].get("changes", ())
            yield from (each for each in changes if each["path"] == careful.path)


async def played(careful: Careful) -> PlayedTalk:
    """Play a talk up to the session of *careful*, with its text in the reader's answer."""
    talk = copy.deepcopy(talks()[careful.talk])
    sessions = talk["sessions"][: careful.session]
    calls = sessions[-1]["answers"][0]
    if careful.before:
        (change,) = changes_of(calls, careful)
        change["value"] = careful.text
    else:
        note = {"value": {"content": careful.text}, "because": list(careful.because)}
        calls.append({"name": "Note", "arguments": note})
    return await played_talk({**talk, "sessions": sessions, "questions": []})


def states(talk: PlayedTalk, text: str) -> list[str]:
    """Return the states of the memories that say *text*."""
    return [each.state for each in talk.memories if text in texts_of(each.value)]


def texts_of(value: Mapping[str, Any]) -> list[str]:
    """Return the texts of the fields of a memory."""
    return [each for each in value.values() if isinstance(each, str)]


@pytest.mark.parametrize("what", KEPT)
async def test_what_a_careful_model_keeps_is_kept_at_once(what: str) -> None:
    careful = KEPT[what]

    talk = await played(careful)

    assert ["active"] == states(talk, careful.text), talk.sessions[-1].asked_again


@pytest.mark.parametrize("what", INVENTED)
async def test_a_detail_that_nobody_said_is_not_kept_among_them(what: str) -> None:
    name, said, invented = INVENTED[what]
    careful = KEPT[name]
    text = careful.text.replace(said, invented)

    talk = await played(careful._replace(text=text))

    assert text != careful.text
    assert "active" not in states(talk, text)


def test_the_figures_of_the_judged_answers_are_those_of_their_file() -> None:
    """`docs/benchmarks_formation.md` tells them."""
    names = ("lost", "untold", "missed", "false", "clutter")
    found = {
        texts: {name: sum(len(row["verdict"][name]) for row in rows) for name in names}
        for texts, rows in judged().items()
    }

    assert {"lost": 41, "untold": 1, "missed": 1, "false": 3, "clutter": 1} == found["before"]
    assert {"lost": 22, "untold": 1, "missed": 1, "false": 2, "clutter": 1} == found["after"]


def judged() -> dict[str, list[Case]]:
    """Return the judged answers, by the texts that their requests had."""
    every = read_corpus(CORPUS, "rewritings")
    return {each: [row for row in every if row["texts"] == each] for each in ("before", "after")}
