"""What an update replaces is offered: seven old notes among forty-seven, in three scripts."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Final

import pytest

import recollect
from recollect.formation.config import FormationLimits, FormationSettings
from recollect.formation.offered_memories import chosen_memories, queries_of
from recollect.formation.types import NOTE
from recollect.formation.window import Window, WindowLine
from recollect.ports import ToolCall
from recollect.records import Memory, NewMessage, Role
from recollect.testing.scripted_model import ScriptedModel
from recollect.text.chinese_scripts import simplified
from recollect.text.token_estimate import estimated_tokens
from tests.harness.sample_contents import sample_memory, sample_message

SCOPE: Final = ("users", "ada")
AT: Final = datetime(2026, 5, 1, tzinfo=UTC)
# What is remembered, and what the user says that changes it.
ENGLISH: Final = [
    ("Works as a nurse at St James hospital", "I quit as a nurse, I work in a bakery now"),
    ("Rents a flat in Leeds", "we bought a house, so the flat in Leeds is history"),
    ("Drives a blue Honda Civic", "sold the Honda last week, I cycle everywhere"),
    ("Her cat is called Miso", "Miso the cat died on Sunday"),
    ("Trains for the Berlin marathon", "I dropped the marathon because of my knee"),
    ("Learns Italian on Tuesdays", "my Italian class has moved to Thursdays"),
    ("Is allergic to penicillin", "turns out the penicillin allergy was a mistake, says my doctor"),
]
TRADITIONAL: Final = [
    ("在馬偕醫院當護理師", "我辭掉護理師的工作了，現在在麵包店上班"),
    ("在臺中租了一間公寓", "我們買房了，臺中的公寓退租了"),
    ("開一輛藍色的本田", "上週把本田賣掉了，現在都騎腳踏車"),
    ("貓叫味噌", "味噌這隻貓週日過世了"),
    ("正在準備柏林馬拉松", "膝蓋受傷，馬拉松不跑了"),
    ("每週二上義大利文課", "義大利文課改到週四了"),
    ("對青黴素過敏", "醫生說青黴素過敏是誤診"),
]
REST_ENGLISH: Final = """
    Likes dark chocolate with sea salt|Plays the cello on weekends|Reads crime novels before bed
    Grows tomatoes on the balcony|Has a brother named Tom in Rome|Prefers tea to coffee
    Watches cricket with her father|Bakes sourdough bread|Keeps a diary since school
    Went to Iceland in 2019|Wants to see the northern lights|Collects old stamps
    Is vegetarian since university|Has two nephews, Sam and Leo|Swims in the lake in summer
    Studied chemistry in Durham|Wears glasses for reading|Dislikes crowded trains
    Volunteers at the food bank|Knits scarves for friends|Uses a Linux laptop
    Takes the early bus to town|Hosts a board game night|Loves jazz from the fifties
    Has a garden shed full of tools|Paints watercolours of birds|Is afraid of heights
    Speaks some Portuguese|Owns a cottage share in Wales|Runs a small book club
    Sleeps badly at full moon|Hates coriander|Makes pottery mugs|Plans a trip to Lisbon
    Has her birthday in November|Goes to the dentist twice a year|Follows the local rugby club
    Drinks oat milk|Repairs radios|Sings in the church choir
"""
REST_TRADITIONAL: Final = """
    喜歡海鹽黑巧克力|週末拉大提琴|睡前看推理小說|陽台種番茄|哥哥住在羅馬|愛喝烏龍茶|陪爸爸看棒球|自己烤吐司
    從國中開始寫日記|2019年去過冰島|想看極光|收集舊郵票|大學開始吃素|有兩個姪子|夏天在湖裡游泳|大學念化學
    看書要戴眼鏡|不喜歡擁擠的捷運|在食物銀行當志工|織圍巾送朋友|用Linux筆電|早上搭第一班公車|辦桌遊之夜|聽五零年代爵士
    工具間堆滿東西|畫水彩的鳥|怕高|會一點葡萄牙語|合買了一間民宿|帶一個讀書會|滿月睡不好|討厭香菜|做陶杯|計畫去里斯本
    生日在十一月|一年看兩次牙醫|支持在地籃球隊|喝燕麥奶|修收音機|在教會唱詩班
"""
ANSWER_ENGLISH: Final = (
    "That sounds like a big change! Would you like tips on bread, gardens, novels, jazz, the lake,"
    " cricket, a trip to Lisbon, the dentist or your book club while we are at it?"
)
ANSWER_TRADITIONAL: Final = (
    "聽起來變化很大！要不要聊聊番茄、推理小說、爵士、游泳、棒球、里斯本、牙醫或讀書會？"
)
Pairs = Sequence[tuple[str, str]]


def notes_of(written: str) -> list[str]:
    """Return the forty other notes."""
    found = [each.strip() for each in written.replace("\n", "|").split("|") if each.strip()]
    assert len(set(found)) == 40
    return found


SCRIPTS: Final = {
    "english": (ENGLISH, notes_of(REST_ENGLISH), ANSWER_ENGLISH),
    "simplified": (
        [(simplified(old), simplified(new)) for old, new in TRADITIONAL],
        list(map(simplified, notes_of(REST_TRADITIONAL))),
        simplified(ANSWER_TRADITIONAL),
    ),
    "traditional": (TRADITIONAL, notes_of(REST_TRADITIONAL), ANSWER_TRADITIONAL),
}


async def offered(script: str, limits: FormationLimits) -> list[int]:
    """Return which of the seven old notes a model is shown, and how many notes in all."""
    pairs, rest, answer = SCRIPTS[script]
    model = ScriptedModel([ToolCall(name="remember_nothing", arguments="{}")])
    settings = FormationSettings(types=(NOTE,), limits=limits)
    async with recollect.open(
        embedder="none", worker=False, model=model, formation=settings
    ) as memory:
        for content in [*rest[:20], *(old for old, _ in pairs), *rest[20:]]:
            value = {"context": "talk", "content": content}
            await memory.put(SCOPE, "Note", content, value)
        lines: list[NewMessage] = []
        for _, new in pairs:
            lines.append(NewMessage(role="user", text=new))
            lines.append(NewMessage(role="assistant", text=answer))
        await memory.append(SCOPE, "talk", lines)
        await memory.form(SCOPE)
    before, _, _ = model.requests[0].turns[0].text.partition("New messages:")
    known = [each for each in before.splitlines() if " Note " in each]
    return [sum(any(old in line for line in known) for old, _ in pairs), len(known)]


@pytest.mark.parametrize("script", SCRIPTS)
async def test_what_seven_updates_replace_is_offered(script: str) -> None:
    """Whatever the assistant says between them."""
    found, shown = await offered(script, FormationLimits())

    assert 7 == found
    assert 10 <= shown <= FormationLimits().existing_memories


@pytest.mark.parametrize("script", SCRIPTS)
async def test_searching_by_the_whole_talk_misses_some(
    script: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The control: all lines together, the assistant's among them, and five memories."""

    def whole_talk(window: Window, _: object) -> list[str]:
        return [" ".join(line.text for line in window.new)[:2_000]]

    monkeypatch.setattr("recollect.worker.formation_input.queries_of", whole_talk)

    found, shown = await offered(script, FormationLimits(existing_memories=5))

    assert (True, 5) == (found < 7, shown)


def memory(content: str, *, ended: bool = False, days: int = 0) -> Memory:
    """Return a note, said so many days ago."""
    at = AT - timedelta(days=days)
    return sample_memory(
        scope=SCOPE,
        key=content,
        value={"content": content},
        at=at,
        valid_from=at - timedelta(days=9),
        valid_until=at - timedelta(days=1) if ended else None,
    )


def chosen(*found: Sequence[Memory], memories_max: int = 4, tokens_max: int = 100) -> set[str]:
    """Return the notes that are shown."""
    memories = chosen_memories(
        found, now=AT, memories_max=memories_max, tokens_max=tokens_max, count=estimated_tokens
    )
    assert [*memories] == sorted(memories, key=lambda each: (each.time, each.key))
    return {each.key for each in memories}


def test_messages_take_turns() -> None:
    """What one has found in plenty keeps out nothing of another's; none is shown twice."""
    many = [memory(f"a{n}", days=n) for n in range(9)]

    assert {"a0", "a1", "a2", "b"} == chosen(many, [many[0], memory("b")])
    assert {"a0", "a1"} == chosen(many, [], many, memories_max=2)


def test_what_is_in_force_comes_before_what_has_ended() -> None:
    """Also where the ended one fits better."""
    assert {"new"} == chosen([memory("old", ended=True), memory("new")], memories_max=1)


def test_near_duplicates_are_offered_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """Next to each other, with the first place that one of them gets; ended ones are not."""
    old, new = memory("drinks green tea every morning", days=9), memory("drinks green tea mornings")
    gone = memory("drank green tea every morning", ended=True)
    others = [[memory(f"other thing {word}", days=n)] for n, word in enumerate("abcd")]
    found = [[new, old, gone], *others]

    together = chosen_memories(
        found, now=AT, memories_max=4, tokens_max=100, count=estimated_tokens
    )
    monkeypatch.setattr("recollect.formation.offered_memories.TWIN_OVERLAP_MIN", 9.0)
    apart = chosen(*found)

    keys = [each.key for each in together]
    assert old.key in keys
    assert keys.index(old.key) + 1 == keys.index(new.key)
    assert gone.key not in keys
    assert 4 == len(keys)
    assert old.key not in apart


def test_many_alike_keep_out_nothing_else() -> None:
    """A few come with one; the other messages have their turns."""
    many = [memory(f"drinks green tea every morning {n}", days=n) for n in range(9)]

    assert {many[0].key, many[1].key, many[2].key, "boat"} == chosen(
        many, [memory("boat", days=20)]
    )


def test_a_long_memory_is_passed_over_for_those_that_fit() -> None:
    """But one is shown at least."""
    long = memory("long " * 200)

    assert {"a", "b"} == chosen([memory("a"), long, memory("b")])
    assert {long.key} == chosen([long], tokens_max=1)


def window(*said: tuple[Role, str]) -> Window:
    """Return a window of new messages."""
    lines = tuple(
        WindowLine(
            number=n,
            text=text,
            new=True,
            message=sample_message(
                thread="t", id=f"i{n}", position=n, role=role, text=text, time=AT
            ),
        )
        for n, (role, text) in enumerate(said, start=1)
    )
    return Window(scope=SCOPE, lines=lines, watermarks={})


def test_each_user_message_is_a_query_of_its_own() -> None:
    """Without the assistant's, and without those that say nothing."""
    said = window(("user", "I sold it"), ("assistant", "Great!"), ("user", "ok"), ("user", "好的"))
    tool = window(("tool", "the flight was moved"), ("assistant", "I see"))
    many = window(*(("user", f"message {n}") for n in range(60)))

    assert ["I sold it", "好的"] == queries_of(said, frozenset({"user", "assistant"}))
    assert ["the flight was moved"] == queries_of(tool, frozenset({"tool"}))
    assert 20 == len(queries_of(many, frozenset({"user"})))
