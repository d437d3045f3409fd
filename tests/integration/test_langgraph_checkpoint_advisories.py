"""The faults for which LangGraph's savers were given advisories, tried on ours, and mutants."""

import importlib.util
import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

import ormsgpack
import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import empty_checkpoint
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.checkpoint.sqlite import utils as originals
from langgraph.types import Interrupt, Send

from recollect import UsageError
from recollect.errors import StoreCorruptError
from recollect.integrations.langgraph import checkpointer, thread_id_of
from recollect.integrations.langgraph.postgres_saver import PostgresCheckpoints
from recollect.integrations.langgraph.saver_base import CompleteSaver
from recollect.integrations.langgraph.serializer import StrictSerializer
from recollect.stores.checkpoint_threads import CheckpointThreads
from tests.harness.installed_servers import require_database


def config(thread_id: str) -> RunnableConfig:
    return {"configurable": {"thread_id": thread_id, "checkpoint_ns": ""}}


def put(saver: CompleteSaver, thread_id: str, value: Any, **metadata: Any) -> RunnableConfig:
    checkpoint = empty_checkpoint()
    checkpoint["channel_values"] = {"channel": value}
    checkpoint["channel_versions"] = {"channel": "1"}
    return saver.put(
        config(thread_id),
        checkpoint,
        {"source": "input", **metadata},  # type: ignore[typeddict-item]
        {"channel": "1"},
    )


@pytest.fixture(params=["sqlite", "postgres"])
def saver(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[CompleteSaver]:
    url = f"{tmp_path}/store.db"
    if request.param == "postgres":
        url = require_database("checkpoints")
    with checkpointer(url) as saver:
        if isinstance(saver, PostgresCheckpoints):
            with saver._pool.connection() as connection:
                connection.execute("TRUNCATE checkpoints, checkpoint_blobs, checkpoint_writes")
        yield saver


HOSTILE = (
    "x') IS NULL OR (1) IN (1) OR ('a",
    "owner') = 'x' OR 1=1 --",
    "owner') IS NOT NULL UNION SELECT thread_id, '', '', '', '', '', '' FROM checkpoints --",
    "x') OR json_extract(CAST(metadata AS TEXT), '$.owner') = ('bob",
    '"; DROP TABLE checkpoints; --',
    "owner' || (SELECT value FROM writes LIMIT 1) || '",
    "$.owner",
    "$[0]",
    "%",
    "*",
)


def found_by(saver: CompleteSaver, filter_: dict[str, Any]) -> list[str]:
    """Return the threads that a filter finds; a refusal finds none."""
    try:
        found = list(saver.list(None, filter=filter_))
    except ValueError:
        return []
    return [each.config["configurable"]["thread_id"] for each in found]


@pytest.mark.parametrize("hostile", HOSTILE)
def test_a_filter_is_no_statement(saver: CompleteSaver, hostile: str) -> None:
    """CVE-2025-67644, CVE-2025-8709, CVE-2025-64104: keys and values are compared or refused."""
    put(saver, "bobs", "secret", owner="bob")

    assert [] == found_by(saver, {hostile: "bob"})
    assert [] == found_by(saver, {hostile: None}) or hostile in {"%", "*", "$.owner", "$[0]"}
    assert [] == found_by(saver, {"owner": hostile})
    assert ["bobs"] == found_by(saver, {"owner": "bob"})


def test_an_unchecked_key_would_be_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The mutant: the saver as it was before CVE-2025-67644 was repaired finds what is bob's."""
    monkeypatch.setattr(originals, "_validate_filter_key", lambda _: None)
    with checkpointer(f"{tmp_path}/store.db") as saver:
        put(saver, "bobs", "secret", owner="bob")

        assert ["bobs"] == found_by(saver, {HOSTILE[0]: "alice"})


@pytest.mark.parametrize("hostile", ["' OR 1=1 --", "%", "_", "*", "t?", "[a-z]", 'a" OR "', "\\"])
def test_an_id_means_one_thread(saver: CompleteSaver, hostile: str) -> None:
    """Signs of patterns in an id widen neither a deletion, a copy, nor an erase."""
    for thread in ("tu", thread_id_of(("tu",), "tu")):
        put(saver, thread, "kept", run_id="r")
    put(saver, hostile, "gone", run_id=hostile)
    put(saver, thread_id_of((hostile,), hostile), "gone", run_id="other")

    saver.delete_for_runs([hostile])
    saver.delete_thread(hostile)
    saver.prune([hostile], strategy="delete")
    saver.delete_thread(thread_id_of((hostile,), hostile))

    assert {"tu", thread_id_of(("tu",), "tu")} == set(found_by(saver, {}))


LABELS = ("u", "ux", "u%", "U", "_", "%", "u/b", "é", "a.b", "1", "12")


def leaks(prefix_of: Any) -> list[tuple[str, str]]:
    """Return which scopes are taken for which others, or for what is below them."""
    return [
        (label, other)
        for label in LABELS
        for other in LABELS
        if label != other
        for scope in ((other,), (other, label))
        if thread_id_of(scope, label) in CheckpointThreads(prefix=prefix_of(label))
    ]


def test_no_prefix_leaks() -> None:
    """CVE-2026-71433: what is below a scope is told by whole segments."""
    whole = leaks(lambda label: thread_id_of((label,), "t").removesuffix("/t"))
    cut_short = leaks(lambda label: thread_id_of((label,), "t").removesuffix("//t"))

    assert [] == whole
    assert ("u", "ux") in cut_short


@dataclass
class Mine:
    """A type of somebody's graph."""

    city: str


class Secret:
    """What must never be made."""


def forged(module: str, name: str, argument: object) -> tuple[str, bytes]:
    """Return a checkpoint's value as who writes into the database would forge it."""
    inner = ormsgpack.packb([module, name, argument])
    return "msgpack", ormsgpack.packb({"v": ormsgpack.Ext(0, inner)})


def test_a_forged_value_makes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """CVE-2026-28277: the module that it names is not imported; LangGraph's default does that."""
    name = f"canary_{uuid4().hex}"
    tmp_path.joinpath(f"{name}.py").write_text("def take(it):\n    return it\n", "utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    assert importlib.util.find_spec(name)

    with pytest.raises(UsageError, match=rf"{name}\.take"):
        StrictSerializer().loads_typed(forged(name, "take", "it"))
    refused = name not in sys.modules
    JsonPlusSerializer(allowed_msgpack_modules=True).loads_typed(forged(name, "take", "it"))

    assert refused
    assert name in sys.modules


def test_a_forged_row_is_refused_by_the_saver(
    saver: CompleteSaver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is written here as by somebody who checks nothing."""
    with pytest.raises(UsageError, match=r"Mine.*allow="):
        put(saver, "t", Mine("Oslo"))
    monkeypatch.setattr(StrictSerializer, "dumps_typed", JsonPlusSerializer.dumps_typed)
    saved = put(saver, "t", Mine("Oslo"))

    with pytest.raises(UsageError, match=r"Mine.*allow="):
        saver.get_tuple(saved)


def test_the_types_of_a_graph_are_allowed_by_name(tmp_path: Path) -> None:
    for allow in ([Mine], [(Mine.__module__, "Mine")]):
        with checkpointer(f"{tmp_path}/store.db", allow=allow) as saver:
            saved = put(saver, "t", Mine("Oslo"))
            found = saver.get_tuple(saved)

        assert found is not None
        assert Mine("Oslo") == found.checkpoint["channel_values"]["channel"]


@pytest.mark.parametrize("allow", ["Mine", Mine, (Mine.__module__, "Mine"), ["Mine"], [5], None])
def test_what_is_no_list_of_types_is_refused(allow: Any) -> None:
    with pytest.raises(UsageError, match=r"as in allow=\[TheType\]"):
        checkpointer("memory:", allow=allow)


def test_what_langgraph_keeps_is_read() -> None:
    """Messages, orders and interrupts need no permission."""
    given = [
        HumanMessage("hello", id="1"),
        AIMessage("", tool_calls=[{"name": "f", "args": {}, "id": "c"}]),
        ToolMessage("done", tool_call_id="c"),
        Send("node", {"a": 1}),
        Interrupt(value="ask", id="i"),
        {1, 2},
    ]
    serde = StrictSerializer()

    assert given == serde.loads_typed(serde.dumps_typed(given))


DANGEROUS = (
    {"lc": 2, "type": "constructor", "id": ["os", "system"], "kwargs": {"command": "exit 1"}},
    {"lc": 1, "type": "constructor", "id": ["subprocess", "Popen"], "kwargs": {"args": ["id"]}},
    {"lc": 2, "type": "constructor", "id": ["builtins", "eval"], "method": ["__call__"]},
    {"lc": 2, "type": "constructor", "id": ["pathlib", "Path"], "args": ["/"]},
    {"lc": 1, "type": "secret", "id": ["PATH"]},
)


@pytest.mark.parametrize("value", DANGEROUS)
def test_a_constructor_stays_data(saver: CompleteSaver, value: dict[str, Any]) -> None:
    """CVE-2025-64439, GHSA-fjqc-hq36-qh5p: it comes back as it was put, in the old form as well."""
    saved = put(saver, "t", value)
    old = StrictSerializer().loads_typed(("json", json.dumps(value).encode()))

    found = saver.get_tuple(saved)

    assert found is not None
    assert value == found.checkpoint["channel_values"]["channel"]
    assert value == old


def test_the_old_form_would_be_seen_to_make_things() -> None:
    """The mutant: LangGraph's own serializer makes a path of the same bytes."""
    made = JsonPlusSerializer().loads_typed(("json", json.dumps(DANGEROUS[3]).encode()))

    assert made != DANGEROUS[3]


def test_nothing_pickled_is_read() -> None:
    """CVE-2026-27794: neither is anything written so that cannot be written otherwise."""
    with pytest.raises(StoreCorruptError, match="pickle"):
        StrictSerializer().loads_typed(("pickle", b"cos\nsystem\n(S'exit 1'\ntR."))
    with pytest.raises(TypeError):
        StrictSerializer().dumps_typed({"value": Secret()})


def test_half_a_surrogate_changes_no_codec(saver: CompleteSaver) -> None:
    """CVE-2025-64439: what cannot be encoded is not written in a way that makes things."""
    try:
        saved = put(saver, "surrogates", {"text": "\ud800", "lc": 2})
    except (TypeError, ValueError):
        assert saver.get_tuple(config("surrogates")) is None
        return
    found = saver.get_tuple(saved)
    assert found is not None
    assert {"lc", "text"} == set(found.checkpoint["channel_values"]["channel"])
