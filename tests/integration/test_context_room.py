"""A context of a talk between several people says who said what, also of memories."""

import pytest

import recollect
from recollect.formation.rule_model import RuleModel
from recollect.memory import context_sources
from recollect.recall.query import Where
from recollect.records import Evidence, NewMessage, PutMemory, Scope
from recollect.stores.contract.base import Store

ROOM: Scope = ("room",)
SHRIMPS = "I am allergic to shrimps."
CAR = "My car is a red Volvo."
ASKED = "What is Bob allergic to?"


def open_memory() -> recollect.Recollect:
    return recollect.open("memory:", embedder="none", model=RuleModel(), worker=False)


async def tell(memory: recollect.Recollect, *said: tuple[str | None, str]) -> None:
    """Say and form sentences, each with the name of its speaker."""
    messages = [NewMessage(role="user", name=name, text=text) for name, text in said]
    await memory.append(ROOM, "talk", messages)
    await memory.form(ROOM)


def notes(context: object) -> list[str]:
    """Return the memories of a context without handles and days, sorted."""
    text = str(context)
    known = text[text.find("# Known\n") : text.find("# ", text.find("# Known\n") + 1)]
    lines = (each for each in known.splitlines() if each.startswith("["))
    return sorted(each.partition("] ")[2].partition(" (")[0] for each in lines)


@pytest.mark.parametrize("where", [None, Where(messages=False)])
async def test_a_note_of_a_room_has_its_speaker(where: Where | None) -> None:
    """Otherwise "I am allergic to shrimps" is of whoever was asked about."""
    async with open_memory() as memory:
        await tell(memory, ("Ada", SHRIMPS), ("Bob", CAR))

        context = await memory.context(ROOM, ASKED, where=where)

        assert [f"Ada: {SHRIMPS[:-1]}", f"Bob: {CAR[:-1]}"] == notes(context)
        assert context.tokens <= context.budget_tokens
        narrow = await memory.context(ROOM, ASKED, where=where, budget_tokens=40)
        assert narrow.tokens <= 40


async def test_the_name_comes_of_the_evidence(monkeypatch: pytest.MonkeyPatch) -> None:
    """The mutant, to which nobody said a note."""

    async def nobody(*_: object) -> dict[object, str]:
        return {}

    monkeypatch.setattr(context_sources, "read_speakers", nobody)
    async with open_memory() as memory:
        await tell(memory, ("Ada", SHRIMPS), ("Bob", CAR))

        assert [SHRIMPS[:-1], CAR[:-1]] == notes(await memory.context(ROOM, ASKED))


async def test_advice_names_whose_allergy_it_is() -> None:
    async with open_memory() as memory:
        await tell(memory, ("Ada", SHRIMPS), ("Bob", CAR))

        context = await memory.context(ROOM, "Suggest a snack for Bob")

        assert f"Ada: {SHRIMPS[:-1]}" in notes(context)


@pytest.mark.parametrize("name", [None, "Ada"])
async def test_the_notes_of_one_speaker_stay_as_they_are(name: str | None) -> None:
    async with open_memory() as memory:
        await tell(memory, (name, SHRIMPS), (name, CAR))

        assert [SHRIMPS[:-1], CAR[:-1]] == notes(await memory.context(ROOM, ASKED))


async def test_nobody_is_named_twice_or_wrongly() -> None:
    """A text that names its speaker, and one that two people said, stay as they are."""
    texts = {"named": "Ada likes tea.", "both": "Lunch is at one.", "doc": "The house is blue."}
    cited = {"named": ["m0"], "both": ["m0", "m1"], "doc": ["gone"]}
    async with open_memory() as memory:
        said = [
            NewMessage(id=f"m{at}", role="user", name=name, text="Tea, lunch at one, a blue house.")
            for at, name in enumerate(("Ada", "Bob"))
        ]
        await memory.append(ROOM, "talk", said)
        await memory.apply(
            ROOM,
            [
                PutMemory(
                    type="Note",
                    key=key,
                    value={"content": text},
                    evidence={
                        "/content": [Evidence(thread="talk", message=each) for each in cited[key]]
                    },
                )
                for key, text in texts.items()
            ],
        )

        assert sorted(texts.values()) == notes(await memory.context(ROOM, "tea lunch house"))


async def test_a_talk_without_names_costs_no_read(monkeypatch: pytest.MonkeyPatch) -> None:
    async with open_memory() as memory:
        await tell(memory, (None, SHRIMPS), (None, CAR))

        async def never(*_: object) -> tuple[()]:
            pytest.fail("the messages of a talk without names were read")

        monkeypatch.setattr(Store, "messages_named", never)
        assert notes(await memory.context(ROOM, "What am I allergic to?"))
