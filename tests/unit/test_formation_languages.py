"""A formation is asked for in the language of the talk: its prompts, their size, the doubles."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from datetime import UTC, datetime, timedelta
from typing import Final

import pytest

from recollect.formation.config import FormationSettings
from recollect.formation.offer import offer_of
from recollect.formation.prompt import first_request
from recollect.formation.prompt_texts import (
    LANGUAGES,
    TEXTS,
    FormationPrompts,
    PromptLanguage,
    PromptTexts,
)
from recollect.formation.rule_model import RuleModel
from recollect.formation.rule_requests import shown_in
from recollect.formation.speakers import SpeakerDocuments
from recollect.formation.talk_language import language_of_talk
from recollect.formation.type_texts import description_in, schema_in
from recollect.formation.types import BUILTIN_TYPES, FACT, INSTRUCTIONS, NOTE, USER, MemoryType
from recollect.formation.window import Window, WindowLine
from recollect.memory.facade import Recollect
from recollect.ports import ModelRequest
from recollect.records import Json, JsonObject, Memory, Message, NewMessage, Role
from recollect.stores.locator import open_store
from recollect.testing.oracle import read_request
from recollect.text.chinese_scripts import simplified
from tests.harness.request_tokens import tokens_of

AT: Final = datetime(2026, 5, 1, 12, tzinfo=UTC)
HAN: Final = re.compile("[\u4e00-\u9fff]")


def memory(type_: str, key: str, value: JsonObject) -> Memory:
    """Return a memory."""
    return Memory(
        scope=("u",), type=type_, key=key, value=value, text="", version=1, created_at=AT,
        updated_at=AT, valid_from=None, valid_until=None, expires_at=None, evidence={},
        trust="user", state="active",
    )  # fmt: skip


PROFILE: Final = memory("User", "User", {"home": "Bergen"})
ENTRY: Final = memory("Note", "n1", {"context": "c", "content": "a boat"})
TWO: Final = SpeakerDocuments(
    keys={None: "User", "ada": "@ada", "ines": "@ines"},
    owners={
        "User": frozenset({None}), "@ada": frozenset({"ada"}), "@ines": frozenset({"ines"}),
    },
)  # fmt: skip


def window(*said: tuple[Role, str], old: int = 0) -> Window:
    """Return a window over messages, the first *old* of them formed before."""
    lines = tuple(
        WindowLine(
            number=n, text=text, new=n > old,
            message=Message(
                thread="t", id=f"i{n}", position=n, role=role, text=text, name=None,
                time=AT + timedelta(minutes=n), session="s", source=None, content=None, metadata={},
            ),
        )
        for n, (role, text) in enumerate(said, start=1)
    )  # fmt: skip
    return Window(scope=("u",), lines=lines, watermarks={"t": len(said)})


TALK: Final = window(("user", "I like tea."), ("user", "Rain."))
SETTINGS: Final[Mapping[str, tuple[Sequence[MemoryType], Sequence[Memory], int]]] = {
    # The types, what is known, and the tokens that the request may cost.
    "nothing known": ((USER, NOTE), (), 465),
    "profile and note": ((USER, NOTE), (PROFILE, ENTRY), 612),
    "two speakers": ((USER, NOTE), (PROFILE, ENTRY), 675),
    "facts": ((FACT,), (), 423),
    "four types": ((USER, NOTE, FACT, INSTRUCTIONS), (PROFILE, ENTRY), 926),
}


def asked(setting: str, language: PromptLanguage) -> ModelRequest:
    """Return the request of one setting."""
    types, known, _ = SETTINGS[setting]
    whose = {"User": TWO} if setting == "two speakers" else {}
    return first_request(TALK, offer_of(types, known, "tea", whose, texts=TEXTS[language]))


def texts_of(request: ModelRequest) -> list[str]:
    """Return every text in a request that is no message and no memory."""
    tools = [f"{each.description} {json.dumps(each.parameters)}" for each in request.tools]
    return [request.system, *tools]


@pytest.mark.parametrize("setting", SETTINGS)
def test_a_request_costs_no_more_than_it_may(setting: str) -> None:
    """In no language; the figures are printed beside each other."""
    tokens = {language: tokens_of(asked(setting, language)) for language in LANGUAGES}

    print(f"{setting}: {tokens}, at most {SETTINGS[setting][2]}")  # noqa: T201 (for who asks)
    assert max(tokens.values()) <= SETTINGS[setting][2]


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ([("user", "I live in Oslo")], "en"),
        ([("user", "我住在杭州，养了两只猫")], "zh"),
        ([("user", "我住在高雄，養了兩隻貓")], "zh-hant"),
        ([("user", "我在台北工作"), ("assistant", "請問您從事什麼工作？")], "zh-hant"),
        ([("user", "我在上海工作"), ("assistant", "请问您做什么工作？")], "zh"),
        ([("user", "你好")], "zh"),
        ([("user", "我喜歡珍・奧斯汀")], "zh-hant"),
        ([("user", "I met 王小明 yesterday in town"), ("assistant", "真的吗？他好吗？")], "en"),
        ([("user", "我用 Kubernetes 部署服务"), ("assistant", "Great, how is it going?")], "zh"),
        ([("user", "猫がいます"), ("user", "東京都")], "en"),
        ([("user", "고양이가 있어요")], "en"),
        ([("user", "أعيش في القاهرة")], "en"),
        ([("user", "मैं दिल्ली में रहता हूँ")], "en"),
        ([("user", "Ich wohne in Köln und habe zwei Katzen")], "en"),
        ([("user", "Vivo en Sevilla y tengo dos gatos")], "en"),
        ([("user", "")], "en"),
        ([("user", "👍 123 \ud800")], "en"),
        ([("assistant", "明天有會議"), ("tool", "會議改到週五")], "zh-hant"),
        ([("user", "后天我去台湾，那里有个朋友叫陳怡君")], "zh"),
        ([("user", "後天我去臺灣，那裡有個朋友叫陈怡君")], "zh-hant"),
    ],
)
def test_the_users_words_choose_the_language(
    said: Sequence[tuple[Role, str]], expected: PromptLanguage
) -> None:
    """Most of their messages; English where there are no texts in their language."""
    assert expected == language_of_talk(window(*said))


def test_new_messages_come_before_those_formed_before() -> None:
    """The language may change within a thread."""
    old: list[tuple[Role, str]] = [("user", "我住在杭州")] * 3
    said: list[tuple[Role, str]] = [*old, ("user", "I moved to Oslo")]

    assert "en" == language_of_talk(window(*said, old=3))
    assert "zh" == language_of_talk(window(*said[::-1], old=1))
    assert "zh" == language_of_talk(window(*old, ("user", "👍 100"), old=3))


@pytest.mark.parametrize("setting", SETTINGS)
def test_a_request_is_written_in_one_language(setting: str) -> None:
    """English has no Han; each script of Chinese has none of the other."""
    english, simple, traditional = ("\n".join(texts_of(asked(setting, each))) for each in LANGUAGES)

    assert not HAN.search(english)
    assert simplified(simple) == simple
    assert simplified(traditional) != traditional
    assert not [each for each in HAN.findall(traditional) if not each.encode("big5", "ignore")]


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_text_of_a_language_can_be_filled_in(language: PromptLanguage) -> None:
    """They pass the checks of texts of one's own, and name what they are filled with."""
    texts = TEXTS[language]
    own = {e.name: getattr(texts, e.name) for e in fields(PromptTexts) if e.name != "language"}

    assert replace(texts, language="en") == FormationPrompts(**own).texts("en")
    assert texts == FormationPrompts().texts(language)
    assert all(own.values())
    assert len(set(own.values())) == len(own)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("type_", BUILTIN_TYPES)
def test_every_description_of_a_built_in_type_is_told(
    type_: MemoryType, language: PromptLanguage
) -> None:
    """In each language; a changed type keeps its own words."""
    told = json.dumps(
        [description_in(language, type_.description), schema_in(language, type_.parameters)],
        ensure_ascii=False,
    )
    changed = replace(type_, description="A thing of mine")

    assert (language == "en") == (HAN.search(told) is None) or type_.name == "Item"
    assert "A thing of mine" == description_in(language, changed.description)
    names = set(re.findall(r'"(\w+)": \{', json.dumps(type_.parameters)))
    assert names == set(re.findall(r'"(\w+)": \{', told))


def test_a_field_named_description_stays() -> None:
    """Only descriptions are told in other words; values and names of fields are not."""
    schema: JsonObject = {
        "type": "object",
        "properties": {
            "description": {"type": "string", "enum": ["What is known of it"]},
            "list": {"anyOf": [{"type": "string", "description": "What is known of it"}]},
        },
    }

    told: Json = schema_in("zh", schema)

    assert {
        "type": "object",
        "properties": {
            "description": {"type": "string", "enum": ["What is known of it"]},
            "list": {"anyOf": [{"type": "string", "description": "已知的情况"}]},
        },
    } == told


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_doubles_read_a_request_in_every_language(language: PromptLanguage) -> None:
    """What is known, whose it is, what was said before and what is new."""
    spoken = window(("user", "before"), ("assistant", "yes"), ("user", "now"), old=2)
    known = (PROFILE, memory("User", "@ines", {"home": "Rome"}), ENTRY)
    offer = offer_of((USER, NOTE), known, "", {"User": TWO}, texts=TEXTS[language])

    request = first_request(spoken, offer)

    shown = shown_in(request)
    assert ["m1", "m2", "m3"] == [id_ for id_, _, _ in shown.known]
    assert {"m1": "", "m2": "ines", "m3": ""} == shown.owners
    assert [(1, "user", "before"), (2, "assistant", "yes")] == list(shown.before)
    assert [(3, "user", "now")] == list(shown.new)
    assert ["before", "yes", "now"] == [each.text for each in read_request(request).messages]


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.anyio
async def test_the_rules_form_profiles_in_every_language(language: PromptLanguage) -> None:
    """Of two speakers each has one, whatever the prompts are written in."""
    model = RuleModel()
    settings = FormationSettings(language=language)
    async with Recollect(
        open_store("memory:"), embedder="none", worker=False, model=model, formation=settings
    ) as held:
        said = [("Ada", "I live in Oslo"), ("Ines", "我住在罗马")]
        lines = [NewMessage(role="user", name=name, text=text) for name, text in said]
        await held.append(("house",), "kitchen", lines)
        await held.form(("house",))
        found = await held.memories(("house",), type_="User")

    assert TEXTS[language].new_messages in model.requests[0].turns[0].text
    assert {"@ada": "Oslo", "@ines": "罗马"} == {e.key: e.value["home"] for e in found.rows}


@pytest.mark.parametrize(
    ("said", "language", "expected"),
    [
        ("我的貓叫小虎", None, "zh-hant"),
        ("我的猫叫小虎", None, "zh"),
        ("My cat is called Tiger", None, "en"),
        ("My cat is called Tiger", "zh", "zh"),
        ("我的貓叫小虎", "en", "en"),
    ],
)
@pytest.mark.anyio
async def test_a_setting_overrides_the_talk(
    said: str, language: PromptLanguage | None, expected: PromptLanguage
) -> None:
    """Of all or of a thread; texts of one's own are used in every language."""
    model = RuleModel()
    settings = FormationSettings(prompts=FormationPrompts(patch_tool="Mine."))
    async with Recollect(
        open_store("memory:"), embedder="none", worker=False, model=model, formation=settings
    ) as held:
        own: dict[str, Json] = {"language": language} if language else {}
        await held.put(("u",), "User", "User", {"home": "Oslo"})
        await held.append(("u",), "t", [NewMessage(role="user", text=said)], settings=own)
        await held.form(("u",))

    (request,) = model.requests
    assert request.turns[0].text.startswith(f"{TEXTS[expected].remembered}\n")
    assert ["Mine."] == [e.description for e in request.tools if e.name == "patch_memory"]


def test_who_may_cause_a_memory_is_told() -> None:
    """Users alone, unless a type says otherwise."""
    trip = replace(NOTE, name="Trip", roles=("user", "assistant"))

    plain, with_trip = (
        first_request(TALK, offer_of(types, (), "")).system for types in ((NOTE,), (NOTE, trip))
    )

    told = "Trip may rest on the words of: user, assistant."
    assert (False, True) == (told in plain, told in with_trip)
    assert "Note may rest" not in with_trip


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_day_is_named_in_the_language(language: PromptLanguage) -> None:
    """Before the date; 1 May 2026 is a Friday."""
    weekday = {"en": "Fri", "zh": "周五", "zh-hant": "週五"}[language]
    request = first_request(TALK, offer_of((NOTE,), (), "", texts=TEXTS[language]))

    assert f"{weekday} 2026-05-01 12:01" == request.turns[0].text.splitlines()[1]
