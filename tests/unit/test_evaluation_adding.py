"""What happened becomes a case: a formation's receipt, or the correction of a memory."""

import tomllib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

import recollect
from recollect.errors import NotFoundError, UsageError
from recollect.evaluation import deeds_of, form, load_cases
from recollect.evaluation.case_capture import draft_of_formation, draft_of_memory
from recollect.evaluation.case_drafts import CaseDraft, append_case, case_text
from recollect.formation.rule_model import RuleModel
from recollect.memory.facade import Recollect
from recollect.records import Json, NewMessage
from recollect.testing.frozen_clock import FrozenClock
from recollect.testing.oracle import Oracle

ADA = ("users", "ada")


@asynccontextmanager
async def formed(*texts: str, thread: str = "talk") -> AsyncIterator[Recollect]:
    """Yield a memory in which each text was said, and formed by rules, one after the other."""
    clock = FrozenClock()
    memory = recollect.open(
        "memory:", embedder="none", model=RuleModel(), worker=False, clock=clock
    )
    async with memory:
        for text in texts:
            clock.advance(60)
            await memory.append(ADA, thread, [NewMessage(role="user", text=text)])
            clock.advance(60)
            assert memory.worker is not None
            await memory.worker.drain(ADA)
        yield memory


async def newest(memory: Recollect) -> str:
    """Return the id of the newest formation."""
    return (await memory.formations(ADA, limit=1)).rows[0].id


async def test_a_receipt_becomes_a_case_that_an_oracle_meets(tmp_path: Path) -> None:
    """The case holds the talk, what stood before, and what was formed, with its quotes."""
    file = tmp_path / "mine.toml"
    async with formed("My name is Ada. I live in Oslo.", "I moved to Bergen now.") as memory:
        draft = await draft_of_formation(memory, ADA, await newest(memory))
        append_case(file, draft)

    (case,) = load_cases(file)
    result = await form(case, Oracle(deeds_of(case)))

    assert {"user_name": "Ada", "home": "Oslo"} == case.memories[0].value
    assert ["/home"] == [each.path for each in case.expectations if each.kind == "must"]
    assert ["Oslo"] == [each.equals[0] for each in case.expectations if each.kind == "must_not"]
    assert () == result.problems
    assert (1, 1) == (result.figures.formed, result.figures.covered)


async def test_a_first_formation_becomes_a_case(tmp_path: Path) -> None:
    """A new document, and new entries of a collection, are demanded whole."""
    file = tmp_path / "mine.toml"
    async with formed("I like tea and my sister is a vet.") as memory:
        append_case(file, await draft_of_formation(memory, ADA, await newest(memory)))

    (case,) = load_cases(file)
    result = await form(case, Oracle(deeds_of(case)))

    assert {"User", "Note"} == {each.type for each in case.expectations}
    assert () == result.problems
    assert result.figures.covered == result.figures.formed


async def test_a_correction_becomes_a_case(tmp_path: Path) -> None:
    """What was formed wrongly must not be there; what a person wrote instead must."""
    file = tmp_path / "mine.toml"
    async with formed("Call me Ada Byron, I live in London.") as memory:
        found = await memory.get(ADA, "User", "User")
        assert found is not None
        await memory.put(ADA, "User", "User", {**found.value, "user_name": "Ada"})
        append_case(file, await draft_of_memory(memory, ADA, "User", "User"))

    (case,) = load_cases(file)
    about = {(each.kind, each.path, each.equals[0]) for each in case.expectations}

    assert ("must", "/user_name", "Ada") in about
    assert ("must", "/home", "London") in about
    assert ("must_not", "/user_name", "Ada Byron") in about
    assert () == (await form(case, Oracle(deeds_of(case)))).problems


async def test_a_rejection_becomes_a_case(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    async with formed("My uncle is a spy.") as memory:
        (note,) = (await memory.memories(ADA, type_="Note")).rows
        await memory.reject(ADA, "Note", note.key)
        append_case(file, await draft_of_memory(memory, ADA, "Note", note.key))

    (case,) = load_cases(file)

    assert ["must_not"] == [each.kind for each in case.expectations]
    rules = await form(case, RuleModel())
    assert 1 == rules.figures.violations


async def test_a_name_that_is_taken_gets_a_number(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    async with formed("I live in Oslo.") as memory:
        draft = await draft_of_memory(memory, ADA, "User", "User")

    names = [append_case(file, draft) for _ in range(3)]

    assert ["memory User/User", "memory User/User (2)", "memory User/User (3)"] == names
    assert names == [case.name for case in load_cases(file)]


async def test_types_of_ones_own_go_into_the_case(tmp_path: Path) -> None:
    """A type that is not built in is asked for, and written out."""
    async with formed("I live in Oslo.") as memory:
        await memory.put(ADA, "Pet", "tom", {"name": "Tom"})
        with pytest.raises(NotFoundError, match="formed from a conversation"):
            await draft_of_memory(memory, ADA, "Pet", "tom")
        draft = await draft_of_memory(memory, ADA, "User", "User")
    (user,) = draft.types
    file = tmp_path / "mine.toml"

    append_case(file, replace(draft, types=(replace(user, description="Mine."),)))

    (case,) = load_cases(file)
    assert "Mine." == case.types[0].description


async def test_a_file_that_is_no_case_file_is_left_alone(tmp_path: Path) -> None:
    """Nothing is written where the result could not be loaded."""
    file = tmp_path / "mine.toml"
    file.write_text("[[case]]\nname = 'broken'\n", "utf-8")
    async with formed("I live in Oslo.") as memory:
        draft = await draft_of_memory(memory, ADA, "User", "User")

    with pytest.raises(UsageError, match="talks"):
        append_case(file, draft)

    assert "[[case]]\nname = 'broken'\n" == file.read_text("utf-8")


async def test_what_is_not_there_is_told() -> None:
    async with formed("I live in Oslo.", "Nice weather.") as memory:
        with pytest.raises(NotFoundError, match="no formation"):
            await draft_of_formation(memory, ADA, "none")
        with pytest.raises(NotFoundError, match="no memory User/nobody"):
            await draft_of_memory(memory, ADA, "User", "nobody")
        with pytest.raises(UsageError, match="no outcomes"):
            await draft_of_formation(memory, ADA, await newest(memory))


async def test_erased_messages_leave_no_case() -> None:
    """A case must not bring back what was removed."""
    async with formed("I live in Oslo.") as memory:
        formation = await newest(memory)
        (message,) = (await memory.messages(ADA, "talk")).rows
        await memory.remove(ADA, "talk", [message.id])

        with pytest.raises((NotFoundError, UsageError)):
            await draft_of_formation(memory, ADA, formation)


@pytest.mark.parametrize(
    "value",
    [
        'quotes " and \\ and \n and \t and \x7f and \x00',
        {"a.b": 1, "": [True, 1.5, -3], "nested": {"x": {"y": []}}},
        "中文，“引号”",
        [],
        {},
        1e300,
    ],
)
def test_values_are_written_as_toml(value: Json) -> None:
    """The standard library reads back what a draft holds."""
    draft = CaseDraft(name="d", types=(), excerpts=(), memories=({"type": "Note", "value": value},))

    (case,) = tomllib.loads(case_text(draft))["case"]

    assert value == case["memories"][0]["value"]


def test_null_has_no_toml() -> None:
    draft = CaseDraft(name="d", types=(), excerpts=(), memories=({"type": "Note", "value": None},))

    with pytest.raises(UsageError, match="cannot be written as TOML"):
        case_text(draft)


def test_a_draft_without_a_talk_is_text_all_the_same() -> None:
    draft = CaseDraft(name='a "name"', types=(), excerpts=())

    assert 'name = "a \\"name\\""' in case_text(draft)
