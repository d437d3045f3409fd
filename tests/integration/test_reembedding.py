"""The embedder is changed while the memory is in use: answers stay right, and never grow worse."""

import json
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from threading import Event

import anyio
import pytest
from click.testing import CliRunner

import recollect
from recollect.cli import main
from recollect.errors import EmbedderError, NotFoundError, UsageError
from recollect.memory.facade import Recollect
from recollect.ports import Vector
from recollect.records import NewMessage, Scope
from recollect.testing.hashed_embedder import HashedEmbedder
from tests.harness.installed_servers import require_empty_database

ADA: Scope = ("ada",)
THINGS = (
    "kayak cello orchid lighthouse sourdough telescope harmonica glacier walnut compass".split()
)
# Forms of a word that its letters show and that no rule of word endings brings together.
ASKED = [f"{thing[:-1]}ish" for thing in THINGS]


class Gate(HashedEmbedder):
    """An embedder that waits in its first text, or fails."""

    def __init__(self, dimensions: int) -> None:
        super().__init__(dimensions)
        self.begun, self.opened = Event(), Event()
        self.fails = False

    def embed(self, texts: Sequence[str]) -> Sequence[Vector | None]:
        """Embed when the gate is open."""
        self.begun.set()
        if not self.opened.wait(timeout=30):
            msg = "nobody opened the gate in 30 s"
            raise EmbedderError(msg)
        if self.fails:
            msg = "the embedder is away"
            raise EmbedderError(msg)
        return super().embed(texts)


@pytest.fixture(params=["memory", "sqlite", "postgres"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Return the address of an empty store."""
    if request.param == "memory":
        return "memory:"
    if request.param == "sqlite":
        return str(tmp_path / "store.db")
    return require_empty_database("recollect_reembed")


@pytest.fixture
async def memory(url: str) -> AsyncIterator[Recollect]:
    """Yield a memory of many things, all embedded."""
    async with recollect.open(url, embedder=HashedEmbedder(256)) as memory:
        said = [NewMessage(role="user", text=f"I bought a {thing} today") for thing in THINGS]
        await memory.append(ADA, "talk", said)
        await memory.settled(ADA)
        yield memory


async def found_of(memory: Recollect) -> tuple[int, set[str | None]]:
    """Return how many questions find their thing first, and by which embedders."""
    right, by = 0, set()
    for thing, asked in zip(THINGS, ASKED, strict=True):
        recall = await memory.recall(ADA, asked, limit=1)
        right += thing in recall.entries[0].text
        by.add(recall.embedder)
    return right, by


async def without_model(memory: Recollect) -> int:
    """Return how many questions find their thing by words alone: the control."""
    async with recollect.open("memory:", embedder="none") as control:
        async for record in memory.export(ADA):
            await control.import_records([record])
        right, _ = await found_of(control)
        return right


async def soon(is_so: Callable[[], bool], what: str) -> None:
    """Wait until *is_so*, for 30 s at most."""
    with anyio.move_on_after(30):
        while not is_so():
            await anyio.lowlevel.checkpoint()
        return
    pytest.fail(f"{what} did not come to pass in 30 s")


async def test_answers_stay_right_before_while_and_after(memory: Recollect) -> None:
    """Never below the figure without a model, all by one embedder, and switched at once."""
    control = await without_model(memory)
    gate = Gate(64)
    figures = [await found_of(memory)]

    async with anyio.create_task_group() as group:
        gate_task: list[str] = []

        async def change() -> None:
            gate_task.append(await memory.reembed(gate))

        group.start_soon(change)
        gate_is_reached = gate.begun.is_set
        await soon(gate_is_reached, "the new embedder's first text")
        await memory.append(ADA, "talk", [NewMessage(role="user", text="I sold a piano")])
        figures.append(await found_of(memory))
        gate.opened.set()
    figures.append(await found_of(memory))
    piano = await memory.recall(ADA, "sold a piano", limit=1)

    assert [HashedEmbedder(64).identity] == gate_task
    assert [{HashedEmbedder(256).identity}] * 2 == [by for _, by in figures[:2]]
    assert {HashedEmbedder(64).identity} == figures[2][1]
    assert all(right >= control for right, _ in figures)
    assert len(THINGS) == figures[0][0] == figures[1][0]
    assert figures[2][0] > control
    assert "I sold a piano" == piano.entries[0].text


async def test_going_back_gives_the_same_answers(memory: Recollect) -> None:
    """Also for what was written since, which gets its vectors first."""
    before = await found_of(memory)
    await memory.reembed(HashedEmbedder(64))
    await memory.append(ADA, "talk", [NewMessage(role="user", text="My accordion is new")])

    identity = await memory.undo_reembed()

    assert HashedEmbedder(256).identity == identity == memory.embedder
    assert before == await found_of(memory)
    found = await memory.recall(ADA, "accordions", limit=1)
    assert "My accordion is new" == found.entries[0].text
    assert identity == found.embedder


async def test_an_embedder_that_fails_is_not_switched_to(memory: Recollect) -> None:
    """The one in use stays, and a second try goes on."""
    gate = Gate(64)
    gate.fails = True
    gate.opened.set()

    with pytest.raises(EmbedderError, match="is away"):
        await memory.reembed(gate)
    right, by = await found_of(memory)
    gate.fails = False
    await memory.reembed(gate)

    assert (len(THINGS), {HashedEmbedder(256).identity}) == (right, by)
    assert HashedEmbedder(64).identity == memory.embedder


async def test_what_is_written_afterwards_is_embedded_by_the_new_one(memory: Recollect) -> None:
    """In the background, as ever."""
    await memory.reembed(HashedEmbedder(64))

    await memory.append(ADA, "talk", [NewMessage(role="user", text="My accordion is new")])
    await memory.settled(ADA)

    found = await memory.recall(ADA, "accordions", limit=1)
    assert "My accordion is new" == found.entries[0].text


async def test_a_change_that_is_none_is_refused(memory: Recollect) -> None:
    """To the same one, to none, and back where there is nothing to go back to."""
    with pytest.raises(UsageError, match="is already in use"):
        await memory.reembed(HashedEmbedder(256))
    with pytest.raises(UsageError, match="cannot change to"):
        await memory.reembed("none")
    with pytest.raises(NotFoundError, match="no embedder to go back to"):
        await memory.undo_reembed()


async def test_the_command_makes_all_vectors_before_the_store_is_opened(tmp_path: Path) -> None:
    """Whoever opens it with the new embedder then has nothing to make."""
    path = str(tmp_path / "store.db")
    async with recollect.open(path, embedder="none") as memory:
        await memory.append(ADA, "talk", [NewMessage(role="user", text="I bought a kayak")])
    given = ["reembed", "--store", path, "--to", "recollect.testing.hashed_embedder:HashedEmbedder"]

    result = await anyio.to_thread.run_sync(lambda: CliRunner().invoke(main, given))
    wrong = await anyio.to_thread.run_sync(
        lambda: CliRunner().invoke(main, [*given[:-1], "json:nothing"])
    )

    assert {"embedder": HashedEmbedder().identity} == json.loads(result.stdout)
    assert (2, True) == (wrong.exit_code, "there is no object 'json:nothing'" in wrong.stderr)
    async with recollect.open(path, embedder=HashedEmbedder()) as memory:
        assert [] == list(await memory.store.unembedded_scopes(HashedEmbedder().identity))
