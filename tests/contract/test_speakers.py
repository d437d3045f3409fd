"""Two people in one thread keep two profiles, on every backend, whatever the model does."""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from typing import Any, TypeAlias

import pytest

from recollect.agents.tools import MemoryTools
from recollect.chat.chatbot import Chatbot
from recollect.formation.config import FormationSettings
from recollect.formation.grounding import grounds as ground
from recollect.formation.rule_model import RuleModel
from recollect.formation.rule_requests import shown_in
from recollect.formation.types import NOTE, USER, MemoryType, load_types
from recollect.memory.facade import Recollect
from recollect.ports import ModelRequest, ToolCall
from recollect.records import Evidence, Json, JsonObject, Memory, NewMessage, PutMemory, Scope
from recollect.stores.plans.erase_targets import EraseMemory
from recollect.testing import FrozenClock, ScriptedModel, SeededIds
from recollect.worker.formation_input import read_documents
from tests.harness.store_opener import Opener

HOUSE: Scope = ("households", "h7")
ADAS: Scope = ("users", "ada")
OSLO, ROME = "I live in Oslo", "I live in Rome"

Open: TypeAlias = Callable[..., Awaitable[Recollect]]


@pytest.fixture
async def open_memory(open_empty: Opener, clock: FrozenClock) -> AsyncIterator[Open]:
    async with AsyncExitStack() as opened:

        async def open_memory(model: Any, types: Sequence[MemoryType] = (USER, NOTE)) -> Recollect:
            store = open_empty(clock, SeededIds(1))
            formation = FormationSettings(types=tuple(types))
            memory = Recollect(
                store, embedder="none", worker=False, model=model, formation=formation
            )
            return await opened.enter_async_context(memory)

        yield open_memory


async def talk(memory: Recollect, *lines: tuple[str | None, str], scope: Scope = HOUSE) -> None:
    """Append what named users say, one after the other, and form it."""
    messages = [NewMessage(role="user", name=name, text=text) for name, text in lines]
    await memory.append(scope, "kitchen", messages)
    await memory.form(scope)


async def homes(memory: Recollect, scope: Scope = HOUSE) -> dict[str, Json]:
    """Return the homes in the profiles that are in force, by key."""
    found = await read_documents(memory.store, scope, "User")
    return {each.key: each.value.get("home") for each in found}


def number_of(request: ModelRequest, words: str) -> int:
    """Return the number under which a message is shown."""
    shown = shown_in(request)
    return next(number for number, _, said in (*shown.new, *shown.before) if said == words)


def profile(home: str, *because: str) -> ToolCall:
    """Return the call that makes a profile."""
    return ToolCall(name="User", arguments={"value": {"home": home}, "because": list(because)})


def patched(id_: str, home: str, because: str) -> ToolCall:
    """Return the call that changes the home in a profile."""
    change = {"op": "add", "path": "/home", "value": home, "because": because}
    return ToolCall(name="patch_memory", arguments={"id": id_, "changes": [change]})


@pytest.mark.anyio
async def test_each_speaker_has_a_profile(open_memory: Open) -> None:
    """A model that makes two calls, as it is asked to, makes two profiles, each of own words."""
    model = RuleModel()
    memory = await open_memory(model)

    await talk(memory, ("Ada", OSLO), ("Ines", ROME))

    assert {"@ada": "Oslo", "@ines": "Rome"} == await homes(memory)
    assert "Each user has own User (@name)" in model.requests[0].system
    for key, words in (("@ada", OSLO), ("@ines", ROME)):
        found = await memory.get(HOUSE, "User", key)
        assert found is not None
        assert [words] == [each.quote for each in found.evidence["/home"]]


@pytest.mark.anyio
async def test_a_model_that_merges_is_asked_again(open_memory: Open) -> None:
    """One profile of the words of two is not kept; put right, there are two."""

    def answered(request: ModelRequest) -> list[ToolCall]:
        first, second = (number_of(request, words) for words in (OSLO, ROME))
        if len(request.turns) == 1:
            return [profile("Rome", f"{first} /home: {OSLO}", f"{second} /home: {ROME}")]
        return [profile("Oslo", f"{first}: {OSLO}"), profile("Rome", f"{second}: {ROME}")]

    model = ScriptedModel(answered)
    memory = await open_memory(model)
    await talk(memory, ("Ada", OSLO), ("Ines", ROME))

    assert {"@ada": "Oslo", "@ines": "Rome"} == await homes(memory)
    (told,) = [each.text for each in model.requests[1].turns if each.role == "tool"]
    assert "it cites ada and ines, each of whom has a User" in told


@pytest.mark.anyio
async def test_a_model_that_insists_merges_nothing(open_memory: Open) -> None:
    """What it goes on to mix is refused, with the reason in the receipt, and kept of nobody."""

    def answered(request: ModelRequest) -> list[ToolCall]:
        cited = [f"{number_of(request, words)} /home: {words}" for words in (OSLO, ROME)]
        return [profile("Rome", *cited)]

    memory = await open_memory(ScriptedModel(answered))
    await talk(memory, ("Ada", OSLO), ("Ines", ROME))

    assert {} == await homes(memory)
    (formation,) = (await memory.formations(HOUSE)).rows
    assert "each of whom has a User" in str(formation.receipt)


@pytest.mark.anyio
async def test_who_came_first_keeps_the_document(open_memory: Open) -> None:
    """One speaker, named or not, has the document of the type; a second one gets another."""
    memory = await open_memory(RuleModel())

    await talk(memory, ("Ada", OSLO))
    assert {"User": "Oslo"} == await homes(memory)
    await talk(memory, ("Ines", ROME))
    assert {"User": "Oslo", "@ines": "Rome"} == await homes(memory)
    await talk(memory, ("Ada", "I moved to Bergen"), ("Ines", "I moved to Turin"))
    assert {"User": "Bergen", "@ines": "Turin"} == await homes(memory)
    await talk(memory, ("INES", "I moved to Pisa"))
    assert {"User": "Bergen", "@ines": "Pisa"} == await homes(memory)


@pytest.mark.anyio
async def test_a_profile_changes_by_its_owners_words_alone(open_memory: Open) -> None:
    """A model that patches the one profile it knows with another's words is told, and refused."""
    asked: list[str] = []

    def answered(request: ModelRequest) -> list[ToolCall]:
        shown = shown_in(request)
        asked.extend(each.text for each in request.turns if each.role == "tool")
        if not shown.known:
            return [profile("Oslo", f"{number_of(request, OSLO)}: {OSLO}")]
        return [patched("m1", "Rome", f"{number_of(request, ROME)}: {ROME}")]

    memory = await open_memory(ScriptedModel(answered))
    await talk(memory, ("Ada", OSLO))
    await talk(memory, ("Ines", ROME))

    assert {"User": "Oslo"} == await homes(memory)
    assert 1 == len(await memory.history(HOUSE, "User", "User"))
    assert "cites the words of ines, and m1 belongs to" in asked[0]


@pytest.mark.anyio
async def test_the_document_of_a_scope_is_its_owners(open_memory: Open) -> None:
    """In Ada's scope the profile that is read as hers is hers, also if both speak at first."""
    memory = await open_memory(RuleModel())

    await talk(memory, ("Ines", ROME), ("Ada", OSLO), scope=ADAS)

    assert {"User": "Oslo", "@ines": "Rome"} == await homes(memory, ADAS)


@pytest.mark.anyio
async def test_one_person_is_one_speaker(open_memory: Open) -> None:
    """Without a name, with one, or in another spelling: nothing changes for one person."""
    model = RuleModel()
    memory = await open_memory(model)

    await talk(memory, (None, OSLO))
    await talk(memory, ("Ada", "I moved to Bergen"))
    await talk(memory, ("ADA", "I moved to Voss"), (None, "I am 30 years old"))

    assert {"User": "Voss"} == await homes(memory)
    assert all("Several users" not in each.system for each in model.requests)


@pytest.mark.anyio
async def test_words_of_nobody_in_particular_are_the_main_users(open_memory: Open) -> None:
    """Where two have names, what is said without one is of neither of the others."""
    memory = await open_memory(RuleModel())

    await talk(memory, ("Ben", OSLO), ("Ines", ROME), (None, "I live in Paris"))

    assert {"User": "Paris", "@ben": "Oslo", "@ines": "Rome"} == await homes(memory)


@pytest.mark.anyio
async def test_what_was_merged_before_belongs_to_nobody(open_memory: Open) -> None:
    """A profile of two people's words is left as it is; from now on each has an own one."""
    memory = await open_memory(RuleModel())
    said = [NewMessage(role="user", name=n, text="hi", id=n) for n in ("Ada", "Ines")]
    await memory.append(HOUSE, "old", said)
    await memory.form(HOUSE)
    cited = [Evidence(thread="old", message=each) for each in ("Ada", "Ines")]
    merged = PutMemory(type="User", key="User", value={"home": "?"}, evidence={"/home": cited})
    await memory.apply(HOUSE, [merged])

    await talk(memory, ("Ada", OSLO))

    assert {"User": "?", "@ada": "Oslo"} == await homes(memory)


@pytest.mark.anyio
async def test_a_type_may_have_one_document_for_all(open_memory: Open) -> None:
    """A plan that a group makes together is one: its type says so."""
    kitchen: JsonObject = {
        "name": "Plan",
        "description": "What the household plans",
        "update_mode": "patch",
        "per_speaker": False,
        "parameters": {"type": "object", "properties": {"where": {"type": "string"}}},
    }

    def answered(request: ModelRequest) -> list[ToolCall]:
        because: list[Json] = [f"{number_of(request, words)}: {words}" for words in (OSLO, ROME)]
        value: JsonObject = {"where": "Oslo or Rome"}
        return [ToolCall(name="Plan", arguments={"value": value, "because": because})]

    memory = await open_memory(ScriptedModel(answered), load_types([kitchen]))
    await talk(memory, ("Ada", OSLO), ("Ines", ROME))

    found = await memory.get(HOUSE, "Plan", "Plan")
    assert found is not None
    assert "Oslo or Rome" == found.value["where"]


@pytest.mark.anyio
async def test_a_single_value_of_one_ends_none_of_anothers(open_memory: Open) -> None:
    """An entry that names no subject is of who speaks; the same user's next one replaces it."""
    residence: JsonObject = {
        "name": "Residence",
        "description": "Where a user lives",
        "update_mode": "insert",
        "single_valued": ["city"],
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string"}},
            "required": ["city"],
        },
    }

    def answered(request: ModelRequest) -> list[ToolCall]:
        ((number, _, words),) = shown_in(request).new
        value: JsonObject = {"city": words.split()[-1]}
        return [
            ToolCall(
                name="Residence", arguments={"value": value, "because": [f"{number}: {words}"]}
            )
        ]

    memory = await open_memory(ScriptedModel(answered), load_types([residence]))
    for name, words in (("Ada", OSLO), ("Ines", ROME), ("Ada", "I live in Bergen")):
        await talk(memory, (name, words))

    rows = (await memory.memories(HOUSE, type_="Residence")).rows
    assert {"Rome", "Bergen"} == {each.value["city"] for each in rows if each.valid_until is None}
    assert ["Oslo"] == [each.value["city"] for each in rows if each.valid_until is not None]


@pytest.mark.anyio
async def test_what_is_refused_of_one_is_not_refused_of_another(
    open_memory: Open, clock: FrozenClock
) -> None:
    """Rejecting Ada's home, or erasing Ines's profile, says nothing of the others."""
    memory = await open_memory(RuleModel())
    await talk(memory, ("Ada", OSLO), ("Ines", ROME))

    await memory.reject(HOUSE, "User", "@ada", pointer="/home")
    await memory.erase(HOUSE, EraseMemory(type="User", key="@ines"))
    await talk(memory, ("Ada", "I live in Oslo!"), ("Ben", OSLO), ("Leo", ROME))

    assert {"@ada": None, "@ben": "Oslo", "@leo": "Rome"} == await homes(memory)
    clock.advance(60)
    again = [NewMessage(role="user", name="Ines", text=f"{ROME}!")]
    await memory.append(HOUSE, "again", again)
    await memory.form(HOUSE)
    assert "Rome" == (await homes(memory))["@ines"]  # said anew, after the erase


@pytest.mark.anyio
async def test_every_reader_shows_whose_profile_it_is(open_memory: Open) -> None:
    """In a chat's prompt, in a block, and in JSON there is a name beside each."""
    model = RuleModel()
    memory = await open_memory(model)
    await talk(memory, ("Ada", OSLO))
    await talk(memory, ("Ines", ROME))

    bot = Chatbot(memory, model, HOUSE, thread="kitchen")
    message = await bot.hear("Hello")
    known = await bot.known(message)
    own, other = known.profile
    assert ["User", "@ines"] == [each.memory.key for each in (own, other)]
    assert f"# User [{own.handle}]\n- home: Oslo\n" in str(known)
    assert f"# User of ines [{other.handle}]\n- home: Rome\n" in str(known)
    chinese = str(await memory.context(HOUSE, "Ines 住在哪里？"))
    assert f"# ines 的 User [{other.handle}]\n- home: Rome\n" in chinese
    recalled = (await memory.recall(HOUSE, "Who lives in Rome?")).entries
    labels = {e.content.label for e in recalled if isinstance(e.content, Memory)}
    assert {"User", "User of ines"} <= labels


@pytest.mark.anyio
async def test_an_agents_tool_keeps_to_the_speaker(open_memory: Open) -> None:
    """What is quoted decides whose profile is meant; another's cannot be changed by it."""
    memory = await open_memory(RuleModel())
    await talk(memory, ("Ada", OSLO), ("Ines", ROME))
    says = [NewMessage(role="user", name="Ines", text="I am 30 years old")]
    await memory.append(HOUSE, "kitchen", says)
    tools = MemoryTools(memory, HOUSE, "kitchen")

    kept = await tools.asave_memory("User", {"age": 30}, ["I am 30 years old"])
    assert ("changed", "User/@ines") == (kept["status"], kept["id"])
    age: JsonObject = {"op": "add", "path": "/age", "value": 30}
    wrong = await tools.aupdate_memory("User/@ada", [age], ["I am 30 years old"])
    assert "refused" == wrong["status"]
    mixed = await tools.asave_memory("User", {"home": "Rome"}, [OSLO, ROME])
    assert "each of whom has a User" in str(mixed["reason"])
    assert {"@ada": "Oslo", "@ines": "Rome"} == await homes(memory)


@pytest.mark.anyio
@pytest.mark.parametrize("taken", ["faults", "attribution"])
async def test_without_the_check_profiles_are_merged(
    open_memory: Open, monkeypatch: pytest.MonkeyPatch, taken: str
) -> None:
    """Each mutant lets the merging model through: the harm is done, and these tests see it."""

    def answered(request: ModelRequest) -> list[ToolCall]:
        if shown_in(request).known:
            return [patched("m1", "Rome", f"{number_of(request, ROME)}: {ROME}")]
        cited = [f"{number_of(request, words)} /home: {words}" for words in (OSLO, ROME)]
        return [profile("Rome", *cited)]

    monkeypatch.setattr(ground, "speaker_faults", lambda *_: [])
    if taken == "attribution":
        monkeypatch.setattr(ground, "attributed", lambda operation, *_: operation)
    memory = await open_memory(ScriptedModel(answered))
    await talk(memory, ("Ada", OSLO), ("Ines", ROME))

    assert {"User": "Rome"} == await homes(memory)
