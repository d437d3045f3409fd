"""A view of a memory, as `acting` returns it, has no state of its own: both always agree."""

import ast
import inspect
import textwrap
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any, Final, TypeAlias

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import recollect
from recollect import Recollect, SyncRecollect, UsageError
from recollect.agents.instructions import Instructions
from recollect.errors import RecollectError, StoreClosedError
from recollect.formation.config import FormationSettings
from recollect.formation.types import NOTE
from recollect.integrations.langgraph import checkpointer, thread_id_of
from recollect.integrations.langgraph.home_loop import forwarded
from recollect.memory.erasure_guard import guarded
from recollect.memory.formation_control import require_open
from recollect.ports import ModelRequest, ToolCall
from recollect.records import Attachment, DeleteMemory, NewMessage, PutMemory, Scope
from recollect.stores.contract.base import ActingStore, SinceStore, Store, StoreView
from recollect.stores.in_process.store import InProcessStore
from recollect.stores.plans.erase_targets import EraseMemory, EraseScope
from recollect.stores.postgres.store import PostgresStore
from recollect.stores.redis.store import RedisStore
from recollect.stores.sqlite.store import SQLiteStore
from recollect.testing.frozen_clock import NOON
from recollect.testing.hashed_embedder import HashedEmbedder
from recollect.testing.scripted_model import ScriptedModel

ADA: Scope = ("users", "ada")
TALK: Final = [NewMessage(role="user", text="My boat is in Porto", id="m1")]
PUT: Final = PutMemory(type="Note", key="pet", value={"context": "pets", "content": "a parrot"})
NOT_SHARED: Final = {"store", "_actor", "_is_view", "_proviso"}
Change: TypeAlias = Callable[[Recollect], Awaitable[object]]


def nothing_to_form(_: ModelRequest) -> ToolCall:
    return ToolCall(name="no_memory", arguments={})


async def _import(memory: Recollect) -> None:
    await memory.import_records([each async for each in memory.export(ADA)])


async def _apply_each(memory: Recollect) -> None:
    await memory.apply_each({ADA: [PUT], ("users", "bob"): [PUT]})


# Every method of the façade that may change something, and how it is called.
CHANGES: dict[str, Change] = {
    "append": lambda m: m.append(ADA, "talk", TALK),
    "set_state": lambda m: m.set_state(ADA, "talk", {"mood": "good"}),
    "attach": lambda m: m.attach(
        ADA, "talk", [Attachment(name="a", media_type="text/plain", data=b"x")]
    ),
    "detach": lambda m: m.detach(ADA, "talk", "a"),
    "remove": lambda m: m.remove(ADA, "talk", ["m1"]),
    "keep": lambda m: m.keep(ADA, "talk", 1),
    "replace": lambda m: m.replace(ADA, "talk", NewMessage(role="user", text="sold", id="m1")),
    "put": lambda m: m.put(ADA, PUT.type, PUT.key, PUT.value),
    "remember": lambda m: m.remember(ADA, "Ada likes owls."),
    "end": lambda m: m.end(ADA, "Note", "pet", NOON),
    "delete": lambda m: m.delete(ADA, "Note", "pet"),
    "apply": lambda m: m.apply(ADA, [DeleteMemory(type="Note", key="pet")]),
    "apply_each": _apply_each,
    "form": lambda m: m.form(ADA),
    "consolidate": lambda m: m.consolidate(ADA),
    "migrate_type": lambda m: m.migrate_type(ADA, "Note", "insert"),
    "undo": lambda m: m.undo(ADA, "none"),
    "reject": lambda m: m.reject(ADA, "Note", "pet"),
    "approve": lambda m: m.approve(ADA, "Note", "pet"),
    "signal": lambda m: m.signal(ADA, "talk"),
    "pause": lambda m: m.pause(ADA),
    "resume": lambda m: m.resume(ADA),
    "retry": lambda m: m.retry(ADA, formation_id="none"),
    "recall": lambda m: m.recall(ADA, "boat"),
    "context": lambda m: m.context(ADA, "boat"),
    "caught_up": lambda m: m.caught_up(ADA),
    "nearest": lambda m: m.nearest(ADA, "boat", type_="Note"),
    "settled": lambda m: m.settled(ADA),
    "erase": lambda m: m.erase(ADA, EraseScope()),
    "quotations": lambda m: m.quotations(ADA, EraseScope()),
    "clean": lambda m: m.clean(),
    "import_records": _import,
    "reembed": lambda m: m.reembed(HashedEmbedder(64)),
    "undo_reembed": lambda m: m.undo_reembed(),
    "tune": lambda m: m.tune(
        [{"query": f"boat {n}", "scope": ADA, "messages": ["m1"]} for n in range(20)]
    ),
    "forget_strength": lambda m: m.forget_strength(),
}
READS: Final = frozenset(
    "acting attachment attachments audit verify_audit close embed embedder export formation "
    "formations get health history lacks_model last_messages loop memories messages noting open "
    "outside_error over pending receipts review scopes state strength tasks thread threads turns "
    "worker".split()
)


def test_the_table_names_every_method() -> None:
    """A new method of the façade has to say here how a view of it agrees."""
    shown = {name for name in dir(Recollect) if not name.startswith("_")}

    assert shown - READS == set(CHANGES)


@pytest.fixture
async def memory() -> AsyncIterator[Recollect]:
    """Yield a memory with every part that there can be."""
    async with opened() as memory:
        yield memory


def opened(url: str = "memory:") -> Recollect:
    return recollect.open(
        url,
        embedder=HashedEmbedder(128),
        model=ScriptedModel(nothing_to_form),
        formation=FormationSettings(types=(NOTE,)),
        worker=False,
    )


async def tried(change: Change, memory: Recollect) -> object:
    """Return what came of a change, or the class of what it raised."""
    try:
        return await change(memory)
    except RecollectError as error:
        return type(error)


async def standing(memory: Recollect) -> dict[str, object]:
    """Return what a user sees of a memory, and every object by which it works."""
    found = await memory.recall(ADA, "boat parrot Porto")
    parts = {name: id(each) for name, each in vars(memory).items() if name not in NOT_SHARED}
    return {
        "embedder": memory.embedder,
        "recalled by": found.embedder,
        "recalled": [each.content for each in found.entries],
        "loop": memory.loop,
        "worker": memory.worker,
        "locks": memory.turns,
        "outside": memory.outside_error,
        "parts": parts,
    }


@pytest.mark.parametrize("by_view", [True, False])
@pytest.mark.parametrize("name", CHANGES)
async def test_both_agree_after_each_change(name: str, by_view: bool, memory: Recollect) -> None:  # noqa: FBT001 (a parameter of the test)
    """Whichever of the two made it."""
    view = memory.acting("ada's key")
    await memory.append(ADA, "talk", TALK)
    await memory.apply(ADA, [PUT])
    await memory.recall(ADA, "boat")

    await tried(CHANGES[name], view if by_view else memory)

    assert await standing(memory) == await standing(view)
    assert await standing(memory.acting("another")) == await standing(view)


STEPS: Final = st.lists(st.tuples(st.integers(0, 3), st.sampled_from(sorted(CHANGES))), max_size=12)


@settings(deadline=None, max_examples=40, suppress_health_check=list(HealthCheck))
@given(steps=STEPS)
async def test_they_agree_through_any_history(steps: list[tuple[int, str]]) -> None:
    """Of a memory, a view, a view of that view and a guarded one, used in any order."""
    async with opened() as memory:
        view = memory.acting("ada's key")
        await memory.append(ADA, "talk", TALK)
        users = [memory, view, view.acting("another"), await guarded(view, ADA)]
        for user, name in steps:
            await tried(CHANGES[name], users[user])

        first, *others = [await standing(each) for each in users]

        assert [first] * len(others) == others


async def test_an_embedder_is_changed_through_a_view(memory: Recollect) -> None:
    """The memory recalls by it, and its background embeds by it."""
    await memory.append(ADA, "talk", TALK)

    name = await memory.acting("ada's key").reembed(HashedEmbedder(64))

    assert name == memory.embedder == (await memory.recall(ADA, "boat")).embedder
    assert name != await memory.undo_reembed()


async def test_an_erase_through_an_old_view_leaves_no_index(memory: Recollect) -> None:
    """The index that searches use now, not the one of when the view was made."""
    view = memory.acting("ada's key")
    await memory.append(ADA, "talk", TALK)
    await memory.reembed(HashedEmbedder(64))
    await memory.recall(ADA, "boat")
    assert require_open(memory._runtime.recaller).indexes.size_bytes > 0

    await view.erase(ADA, EraseScope())

    assert require_open(memory._runtime.recaller).indexes.size_bytes == 0


async def test_a_view_is_open_as_long_as_its_memory() -> None:
    """Also one that was made before, and it is not entered itself."""
    memory = opened()
    view = memory.acting("ada's key")
    with pytest.raises(StoreClosedError):
        await view.recall(ADA, "boat")
    async with memory:
        await view.append(ADA, "talk", TALK)
        assert 1 == len((await view.recall(ADA, "boat")).entries)
        with pytest.raises(UsageError, match="enter the memory"):
            await view.__aenter__()
    with pytest.raises(StoreClosedError):
        await view.recall(ADA, "boat")


async def test_what_a_view_consolidates_and_undoes_is_audited(memory: Recollect) -> None:
    """As all that is done through it."""
    ids = [PutMemory(type="Note", key=key, value=PUT.value, text="a parrot") for key in "ab"]
    await memory.apply(ADA, ids)
    view = memory.acting("ada's key")

    def merging(request: ModelRequest) -> ToolCall:
        shown = [line for line in request.turns[0].text.splitlines() if line.startswith("[")]
        names = [line.split('"')[1] for line in shown]
        return ToolCall(name="merge_memories", arguments={"ids": names, "value": dict(PUT.value)})

    memory._runtime.consolidator._models = lambda _: ScriptedModel(merging)  # type: ignore[union-attr]
    done = await view.consolidate(ADA)
    assert done.id is not None
    await view.undo(ADA, done.id)

    rows = (await memory.audit(ADA)).rows

    assert {"ada's key"} == {each.actor for each in rows}
    assert 2 == len(rows)


# Without await


def sync_opened(url: str = "memory:") -> SyncRecollect:
    return recollect.open_sync(url, embedder=HashedEmbedder(128), worker=False)


@pytest.fixture
def sync_memory() -> Iterator[SyncRecollect]:
    with sync_opened() as memory:
        yield memory


def test_the_synchronous_views_agree_as_well(sync_memory: SyncRecollect) -> None:
    """A view made before a change of the embedder recalls by the new one."""
    view = sync_memory.acting("ada's key")
    sync_memory.append(ADA, "talk", TALK)

    name = view.reembed(HashedEmbedder(64))

    assert name == sync_memory.embedder == view.embedder
    assert name == sync_memory.recall(ADA, "boat").embedder == view.recall(ADA, "boat").embedder
    assert sync_memory.undo_reembed() == view.embedder


def test_a_synchronous_view_is_open_whenever_its_memory_is(tmp_path: Path) -> None:
    """Also after that was closed and opened again, when all behind it is new."""
    memory = sync_opened(str(tmp_path / "memory.db"))
    with memory:
        view = memory.acting("ada's key")
        view.append(ADA, "talk", TALK)
    with pytest.raises(StoreClosedError):
        view.thread(ADA, "talk")
    with memory:
        assert 1 == len(view.recall(ADA, "boat").entries)
        view.put(ADA, PUT.type, PUT.key, PUT.value)
        assert ["ada's key"] * 2 == [each.actor for each in memory.audit(ADA).rows]
        with pytest.raises(UsageError, match="enter the memory"):
            view.__enter__()


def test_views_of_views_act_as_the_last(sync_memory: SyncRecollect) -> None:
    """The last name is the one that is noted."""
    sync_memory.acting("one").acting("other").append(ADA, "talk", TALK)

    assert ["other"] == [each.actor for each in sync_memory.audit(ADA).rows]


# Stores


def own_methods(kind: type) -> set[str]:
    """Return the methods of the contract that a backend answers in its own way."""
    base = {name for each in Store.__mro__[:-1] for name in vars(each)}
    return {
        name
        for name, each in vars(kind).items()
        if name in base and callable(each) and not name.startswith("__")
    }


@pytest.mark.parametrize("kind", [InProcessStore, SQLiteStore, PostgresStore, RedisStore])
def test_a_view_of_a_store_passes_on_what_a_backend_overrides(kind: type) -> None:
    """What it did not pass on would be the base's: of checkpoints, an erase that does nothing."""
    assert own_methods(kind) <= set(vars(StoreView))


def made_of(kind: type) -> set[str]:
    """Return the attributes that the constructors of a contract's classes set."""
    found: set[str] = set()
    for each in kind.__mro__[:-1]:
        if "__init__" not in vars(each):
            continue
        tree = ast.parse(textwrap.dedent(inspect.getsource(each.__init__)))  # type: ignore[misc]
        found |= {
            node.attr
            for node in ast.walk(tree)
            if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)
        }
    return found


def test_a_view_of_a_store_has_what_the_store_has() -> None:
    """The same objects, whatever the contract's constructors make."""
    store = SQLiteStoreLike()
    for view in (ActingStore(store, "ada's key"), SinceStore(store, ADA, 0)):
        for name in made_of(Store):
            assert getattr(view, name) is getattr(store, name), name


class SQLiteStoreLike(InProcessStore):
    """A store that has an address."""

    def __init__(self) -> None:
        super().__init__()
        self.address = "sqlite:/memory.db"


@pytest.mark.parametrize("by_view", [True, False])
@pytest.mark.parametrize("url", ["memory:", "file"])
async def test_an_erase_reaches_the_checkpoints(url: str, by_view: bool, tmp_path: Path) -> None:  # noqa: FBT001 (a parameter of the test)
    """Those of a graph's thread go with the talk, whoever opened the saver, and whoever erases."""
    place = str(tmp_path / "memory.db") if url == "file" else url
    async with opened(place) as memory:
        pair: list[Any] = [memory, memory.acting("ada's key")]
        keeper, eraser = pair if by_view else reversed(pair)
        await memory.append(ADA, "talk", TALK)
        thread: Any = {"configurable": {"thread_id": thread_id_of(ADA, "talk")}}
        async with checkpointer(keeper) as saver:
            await graph_over(saver).ainvoke({"said": "My boat is in Porto"}, thread)
            assert await saver.aget_tuple(thread) is not None

            await eraser.erase(ADA, EraseScope())

            assert await saver.aget_tuple(thread) is None


def graph_over(saver: Any) -> Any:
    from langgraph.graph import START, StateGraph

    built: Any = StateGraph(dict)
    built.add_node("answer", lambda state: state)
    built.add_edge(START, "answer")
    return built.compile(checkpointer=saver)


async def test_a_worker_is_woken_by_its_views(memory: Recollect) -> None:
    """And waits again afterwards: an event that stayed set would keep it looking for ever."""
    worker = memory.worker
    assert worker is not None
    before = worker._state.woken

    worker.acting("ada's key").wake()

    assert before.is_set()
    assert not worker._state.woken.is_set()


def test_what_is_forwarded_sees_what_is_set(sync_memory: SyncRecollect) -> None:
    """Instructions that were given to a node, and are made automatic afterwards."""
    given_on = Instructions(sync_memory, ADA, "agent")
    view = forwarded(given_on)

    given_on.automatic = True

    assert view.automatic
    assert isinstance(view, Instructions)
    assert vars(view).keys() == {"home", "_owner"}


async def test_a_memory_is_forgotten_through_a_view(memory: Recollect) -> None:
    """The index of the memory does not find what the view erased."""
    view = memory.acting("ada's key")
    await view.put(ADA, PUT.type, PUT.key, PUT.value)
    assert (await memory.recall(ADA, "parrot")).entries

    await view.erase(ADA, EraseMemory(type=PUT.type, key=PUT.key))

    assert not (await memory.recall(ADA, "parrot")).entries
