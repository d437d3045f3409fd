"""What other programs hold goes in with `recollect import`, and back with `recollect export`."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from recollect.cli import main

ITEMS = (
    {"namespace": ["users", "ada"], "key": "k", "value": {"a": 1}},
    {"namespace": ["users", "bob"], "key": "k", "value": {"a": [True, None, "x"]}},
)
GRAPH = (
    {"type": "entity", "name": "Ada", "entityType": "person", "observations": ["likes tea"]},
    {"type": "entity", "name": "Bob", "entityType": "person", "observations": []},
    {"type": "relation", "from": "Ada", "to": "Bob", "relationType": "knows"},
)
MEM0 = (
    {
        "id": "n1",
        "memory": "Likes green tea",
        "history": [
            {"new_memory": "Likes tea", "created_at": "2026-01-01T00:00:00Z"},
            {"new_memory": "Likes green tea", "created_at": "2026-02-01T00:00:00Z"},
        ],
    },
)


@pytest.fixture
def store(tmp_path: Path) -> str:
    """Name a store that does not exist yet."""
    return str(tmp_path / "store.db")


def invoke(store: str, *arguments: str) -> Result:
    """Run a command on *store*, without an embedder."""
    environment = {"RECOLLECT_STORE": store, "RECOLLECT_SCOPE": "s", "RECOLLECT_EMBEDDER": "none"}
    return CliRunner(env=environment).invoke(main, list(arguments))


def written(folder: Path, *values: object) -> str:
    """Write *values* as JSON Lines and return the path."""
    path = folder / "file.jsonl"
    path.write_text("".join(json.dumps(value) + "\n" for value in values), "utf-8")
    return str(path)


def taken(result: Result) -> Sequence[int]:
    """Return how many rows were new, there already, and refused."""
    (file,) = json.loads(result.stdout)["files"]
    return file["taken"], file["present"], file["refused"]


@pytest.mark.parametrize(("values", "count"), [(ITEMS, 2), (GRAPH, 4), (MEM0, 1)])
def test_importing_again_changes_nothing(
    store: str, tmp_path: Path, values: Sequence[object], count: int
) -> None:
    """Also where nothing in the file has a time."""
    file = written(tmp_path, *values)

    first, second = invoke(store, "import", file), invoke(store, "import", file)

    assert ((count, 0, 0), (0, count, 0)) == (taken(first), taken(second))
    assert 0 == second.exit_code


def test_a_memory_that_stands_with_other_content_stays(store: str, tmp_path: Path) -> None:
    """The row is refused with the version that is there."""
    invoke(store, "import", written(tmp_path, ITEMS[0]))

    result = invoke(store, "import", written(tmp_path, {**ITEMS[0], "value": {"a": 2}}))

    (refused,) = json.loads(result.stdout)["refusals"]
    assert "memory Item/k exists at version 1 with other content" == refused["reason"]


def test_a_history_of_mem0_is_a_history_of_ours(store: str, tmp_path: Path) -> None:
    """Each version was believed from when mem0 noted it."""
    invoke(store, "import", written(tmp_path, *MEM0))

    shown = json.loads(invoke(store, "memories", "Note/n1", "--json").stdout)

    found = [(each["value"]["content"], each["believed_from"]) for each in shown["versions"]]
    assert {
        ("Likes tea", "2026-01-01T00:00:00Z"),
        ("Likes green tea", "2026-02-01T00:00:00Z"),
    } == set(found)


@pytest.mark.parametrize(("form", "values"), [("langgraph", ITEMS), ("mcp", GRAPH)])
def test_what_came_in_goes_out(
    store: str, tmp_path: Path, form: str, values: Sequence[dict[str, object]]
) -> None:
    """Value by value as it was."""
    invoke(store, "import", written(tmp_path, *values))

    result = invoke(store, "export", "--below", "--form", form)

    found = [json.loads(line) for line in result.stdout.splitlines()]
    kept = [{name: each[name] for name in first} for first, each in zip(values, found, strict=True)]
    assert list(values) == kept


def test_what_a_form_cannot_hold_is_told(store: str, tmp_path: Path) -> None:
    """By its kind, with its count."""
    chat = [{"role": "user", "content": "hello"}]
    invoke(store, "import", written(tmp_path, *ITEMS, *GRAPH, chat))

    mcp = invoke(store, "export", "--below", "--form", "mcp").stderr
    items = invoke(store, "export", "--below", "--form", "langgraph").stderr

    assert "4 records of s" in mcp
    assert "refused: memories of the type Item: 2" in mcp
    assert "refused: messages: 1" in mcp
    assert "changed: memories of the type Fact became items: 2" in items


def test_a_fact_of_graphiti_goes_with_the_episode_that_it_rests_on(
    store: str, tmp_path: Path
) -> None:
    """The evidence is evidence as any other."""
    ends = {"source_node_uuid": "n1", "target_node_uuid": "n2", "group_id": "g"}
    nodes = [
        {"uuid": f"n{n}", "name": name, "group_id": "g", "summary": ""}
        for n, name in enumerate(("Ada", "Oslo"), start=1)
    ]
    said = {"uuid": "p1", "group_id": "g", "source": "message", "content": "I moved to Oslo."}
    edge = {"uuid": "e1", "name": "LIVES_IN", "fact": "Ada lives in Oslo", "episodes": ["p1"]}
    invoke(store, "import", written(tmp_path, *nodes, said, {**edge, **ends}))
    before = invoke(store, "recall", "Ada lives").stdout

    invoke(store, "erase", "--thread", "g", "--yes")

    assert "Ada lives in Oslo" in before
    assert "Ada lives in Oslo" not in invoke(store, "recall", "Ada lives").stdout
