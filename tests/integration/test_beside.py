"""Thread state and attachments: stored, resumed, exported and erased with the thread."""

from base64 import b64decode
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import recollect
from recollect import (
    Attachment,
    ConflictError,
    EraseThread,
    LimitError,
    NewMessage,
    NotFoundError,
    Recollect,
    UsageError,
    VersionConflictError,
)
from recollect.memory import thread_state
from recollect.records import PutMemory, Scope
from recollect.side_records import SideRecord
from recollect.stores.plans import doomed_rows
from recollect.stores.validation import ATTACHMENT_BYTES_MAX
from recollect.stores.validation import ATTACHMENT_PART_BYTES as PART_BYTES

ADA, BOB = ("users", "ada"), ("users", "bob")
CANARY = b"quartz-heron-5521"


@pytest.fixture(params=["memory:", "file"])
async def memory(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Recollect]:
    url = request.param if request.param == "memory:" else str(tmp_path / "m.db")
    async with recollect.open(url, embedder="none", worker=False) as memory:
        yield memory


def said(text: str, id_: str | None = None) -> NewMessage:
    return NewMessage(role="user", text=text, id=id_)


async def test_state_is_set_name_by_name(memory: Recollect) -> None:
    """Other names, threads and scopes keep theirs; ``None`` removes one."""
    await memory.set_state(ADA, "talk", {"draft": {"pages": [1, 2]}, "step": 3})
    await memory.set_state(ADA, "talk/draft", {"step": 1})
    await memory.set_state(BOB, "talk", {"step": 2})
    await memory.set_state(ADA, "talk", {"step": None, "tone": "brief"})

    assert {"draft": {"pages": [1, 2]}, "tone": "brief"} == await memory.state(ADA, "talk")
    assert {"step": 1} == await memory.state(ADA, "talk/draft")
    assert {"step": 2} == await memory.state(BOB, "talk")
    assert {} == await memory.state(ADA, "other")


@pytest.mark.parametrize("name", ["a/b", "%", "..", "名前", "x@y.z", "A"])
async def test_any_name_and_thread_will_do(memory: Recollect, name: str) -> None:
    """Their letters are no part of an address: two that look alike are two."""
    await memory.set_state(ADA, name, {name: 1, f"{name}/": 2})
    await memory.set_state(ADA, f"{name}/", {name: 3})

    assert {name: 1, f"{name}/": 2} == await memory.state(ADA, name)
    assert {name: 3} == await memory.state(ADA, f"{name}/")


@pytest.mark.parametrize("size", [0, 1, PART_BYTES, PART_BYTES + 1, 2 * PART_BYTES + 7])
async def test_an_attachment_comes_back(memory: Recollect, size: int) -> None:
    """Byte for byte, whatever its size; listing it reads no content."""
    data = bytes(number % 251 for number in range(size))
    await memory.attach(ADA, "talk", [Attachment(name="a.bin", data=data)])

    (about,) = await memory.attachments(ADA, "talk")
    found = await memory.attachment(ADA, "talk", "a.bin")

    assert found == Attachment(name="a.bin", data=data)
    assert ("a.bin", "application/octet-stream", size) == (
        about.name,
        about.media_type,
        about.bytes,
    )
    assert await memory.attachment(ADA, "talk", "b.bin") is None


async def _file_of_a_cut_import(memory: Recollect) -> Attachment | None:
    """Return the file of two parts of which an import took one alone."""
    data = b"x" * (2 * PART_BYTES)
    await memory.attach(ADA, "talk", [Attachment(name="a", data=data)])
    records = [each async for each in memory.export(ADA)]
    await memory.erase(ADA, EraseThread(thread="talk"))
    await memory.import_records(records[:-1], restore_erased=True)
    return await memory.attachment(ADA, "talk", "a")


async def test_an_attachment_that_is_not_whole_is_an_error(memory: Recollect) -> None:
    """An import keeps what came before a cut: part of a file is never taken for the file."""
    with pytest.raises(NotFoundError, match=f"{PART_BYTES} of {2 * PART_BYTES} bytes .* anew"):
        await _file_of_a_cut_import(memory)

    whole = Attachment(name="a", data=b"whole")
    await memory.attach(ADA, "talk", [whole])
    assert whole == await memory.attachment(ADA, "talk", "a")


async def test_without_its_check_part_of_a_file_is_a_file(
    memory: Recollect, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mutant believes the size that is noted."""
    monkeypatch.setattr(
        thread_state,
        "_whole_attachment",
        lambda _, about, parts: Attachment(
            name=about.name, data=b"".join(b64decode(str(e.value["data"])) for e in parts if e)
        ),
    )

    found = await _file_of_a_cut_import(memory)

    assert found is not None
    assert PART_BYTES == len(found.data)


async def test_a_replaced_attachment_is_gone(memory: Recollect) -> None:
    """With all its parts, and without a history; and so is one that was detached."""
    await memory.attach(ADA, "talk", [Attachment(name="a", data=b"x" * (PART_BYTES * 2))])
    await memory.attach(ADA, "talk", [Attachment(name="a", data=b"y", media_type="text/plain")])

    found = await memory.attachment(ADA, "talk", "a")
    kept = [(r["side_kind"], r["version"]) async for r in memory.export(ADA) if "side_kind" in r]
    assert Attachment(name="a", data=b"y", media_type="text/plain") == found
    assert ["Attachment", "AttachmentPart"] == [kind for kind, _ in kept]

    assert await memory.detach(ADA, "talk", "a")
    assert not await memory.detach(ADA, "talk", "a")
    assert ["thread"] == [each["kind"] async for each in memory.export(ADA)]


async def test_a_turn_with_a_file_is_kept_once_under_its_key(memory: Recollect) -> None:
    """A retry is known again, also after a larger file of that name has taken its place."""
    turn, file = [said("Here is the plan.")], Attachment(name="a", data=b"y")
    first = await memory.append(ADA, "talk", turn, attachments=[file], idempotency_key="k")
    again = await memory.append(ADA, "talk", turn, attachments=[file], idempotency_key="k")
    large = Attachment(name="a", data=b"x" * (PART_BYTES * 2))
    await memory.attach(ADA, "talk", [large])

    late = await memory.append(ADA, "talk", turn, attachments=[file], idempotency_key="k")

    assert first == again == late == (await memory.messages(ADA, "talk")).rows
    assert large == await memory.attachment(ADA, "talk", "a")
    with pytest.raises(ConflictError):
        await memory.append(ADA, "talk", turn, attachments=[large], idempotency_key="k")


async def test_a_file_without_a_list_is_refused_in_few_words(memory: Recollect) -> None:
    """Its bytes have no place in a message."""
    file = Attachment(name="a", data=b"x" * PART_BYTES)

    with pytest.raises(UsageError, match="Attachment is not a list: give each") as failure:
        await memory.attach(ADA, "talk", file)  # type: ignore[arg-type]

    assert len(str(failure.value)) < 200


async def test_a_file_that_is_too_large_is_refused(memory: Recollect) -> None:
    """With its size and the limit; nothing of the turn is kept."""
    large = Attachment(name="film", data=bytes(ATTACHMENT_BYTES_MAX + 1))

    with pytest.raises(LimitError, match="ATTACHMENT_BYTES_MAX"):
        await memory.append(ADA, "talk", [said("Look")], attachments=[large])

    assert () == (await memory.messages(ADA, "talk")).rows


async def test_a_turn_is_kept_whole_or_not_at_all(memory: Recollect) -> None:
    """Messages, state and attachments are one transaction."""
    file = Attachment(name="a", data=b"1")
    await memory.append(ADA, "talk", [said("One", "m1")], state={"step": 1}, attachments=[file])

    with pytest.raises(ConflictError):
        await memory.append(
            ADA,
            "talk",
            [said("Two", "m2"), said("Other words", "m1")],
            state={"step": 2},
            attachments=[Attachment(name="a", data=b"2")],
        )

    assert {"step": 1} == await memory.state(ADA, "talk")
    assert file == await memory.attachment(ADA, "talk", "a")
    assert ["m1"] == [each.id for each in (await memory.messages(ADA, "talk")).rows]


async def test_memories_are_kept_with_the_messages_they_rest_on(memory: Recollect) -> None:
    """A write that conflicts leaves no message, and a message that does leaves no memory."""
    note = PutMemory(type="Note", key="n", value={"content": "One"}, expected=0)
    await memory.append(ADA, "talk", [said("One", "m1")], writes=[note])

    with pytest.raises(VersionConflictError):
        await memory.append(ADA, "talk", [said("Two", "m2")], writes=[note])
    other = PutMemory(type="Note", key="other", value={"content": "Two"})
    with pytest.raises(ConflictError):
        await memory.append(ADA, "talk", [said("Other words", "m1")], writes=[other])

    assert ["n"] == [each.key for each in (await memory.memories(ADA)).rows]
    assert ["m1"] == [each.id for each in (await memory.messages(ADA, "talk")).rows]


def meanwhile(
    patch: pytest.MonkeyPatch, memory: Recollect, act: Callable[[], Awaitable[None]]
) -> None:
    """Have somebody else *act* once, right after the metadata of an attachment was read."""
    read = memory._metadata

    async def disturbed(scope: Scope, thread: str, name: str) -> SideRecord | None:
        found = await read(scope, thread, name)
        patch.setattr(memory, "_metadata", read)
        await act()
        return found

    patch.setattr(memory, "_metadata", disturbed)


async def test_an_attachment_is_read_whole_while_it_is_replaced(
    memory: Recollect, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Never the beginning of a larger file; what is removed meanwhile is not there."""
    large = Attachment(name="a", data=b"2" * (PART_BYTES + 1))
    await memory.attach(ADA, "talk", [Attachment(name="a", data=b"1")])

    meanwhile(monkeypatch, memory, lambda: memory.attach(ADA, "talk", [large]))
    assert large == await memory.attachment(ADA, "talk", "a")

    async def detach() -> None:
        await memory.detach(ADA, "talk", "a")

    meanwhile(monkeypatch, memory, detach)
    assert await memory.attachment(ADA, "talk", "a") is None


async def test_nothing_is_left_of_a_file_that_was_attached_twice_at_once(
    memory: Recollect, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not even the parts of the larger one."""
    large = Attachment(name="a", data=b"2" * (2 * PART_BYTES + 1))
    meanwhile(monkeypatch, memory, lambda: memory.attach(ADA, "talk", [large]))
    await memory.attach(ADA, "talk", [Attachment(name="a", data=b"1")])

    assert await memory.detach(ADA, "talk", "a")

    assert ["thread"] == [each["kind"] async for each in memory.export(ADA)]


async def test_recall_finds_nothing_of_it(memory: Recollect) -> None:
    """It is the program's, not what was said; asked for by its type it is not found either."""
    await memory.append(ADA, "talk", [said("I sail")], state={"note": "boat boat boat"})
    file = Attachment(name="boat.txt", data=b"boat")
    await memory.attach(ADA, "talk", [file])

    found = await memory.recall(ADA, "boat", limit=50)

    assert ["I sail"] == [each.text for each in found.entries]
    assert 1 == found.eligible


async def test_it_is_exported_and_restored(memory: Recollect) -> None:
    """As everything else of its scope."""
    await memory.append(ADA, "talk", [said("One")], state={"step": 1})
    await memory.attach(ADA, "talk", [Attachment(name="a", data=b"1" * (PART_BYTES + 1))])
    records = [each async for each in memory.export(ADA)]

    async with recollect.open(embedder="none", worker=False) as other:
        await other.import_records(records)

        assert {"step": 1} == await other.state(ADA, "talk")
        assert await memory.attachment(ADA, "talk", "a") == await other.attachment(ADA, "talk", "a")


async def test_erasing_the_thread_takes_it_along(tmp_path: Path) -> None:
    """No byte of it is left in any file; the other thread keeps its own."""
    async with recollect.open(str(tmp_path / "m.db"), embedder="none", worker=False) as memory:
        for thread in ("talk", "other"):
            await memory.append(ADA, thread, [said("Hello")], state={"step": 1})
        await memory.set_state(ADA, "talk", {"secret": CANARY.decode()})
        await memory.set_state(ADA, "silent", {"secret": CANARY.decode()})

        for thread in ("talk", "silent"):
            await memory.erase(ADA, EraseThread(thread=thread))
        await memory.clean()

        assert {} == await memory.state(ADA, "talk") == await memory.state(ADA, "silent")
        assert {"step": 1} == await memory.state(ADA, "other")
    assert not [each for each in tmp_path.iterdir() if CANARY in each.read_bytes()]


async def test_state_that_names_no_thread_would_stay(
    memory: Recollect, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The check above sees an erase that forgets what goes with the thread."""
    effect_of = doomed_rows._doomed_thread

    def unbound(*given: Any) -> Any:
        return replace(effect_of(*given), sides=())

    monkeypatch.setattr(doomed_rows, "_doomed_thread", unbound)
    await memory.append(ADA, "talk", [said("Hello")], state={"step": 1})

    await memory.erase(ADA, EraseThread(thread="talk"))

    assert {"step": 1} == await memory.state(ADA, "talk")


async def test_a_thread_is_resumed_with_it(tmp_path: Path) -> None:
    """Another opening of the same file finds all of it."""
    path = str(tmp_path / "m.db")
    async with recollect.open(path, embedder="none", worker=False) as memory:
        await memory.append(ADA, "talk", [said("Hello")], state={"step": 1})
        await memory.attach(ADA, "talk", [Attachment(name="a", data=b"1")])

    with recollect.open_sync(path, embedder="none", worker=False) as again:
        assert {"step": 1} == again.state(ADA, "talk")
        assert Attachment(name="a", data=b"1") == again.attachment(ADA, "talk", "a")
        assert ["a"] == [each.name for each in again.attachments(ADA, "talk")]
