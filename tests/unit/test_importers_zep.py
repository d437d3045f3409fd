"""Pages of Zep's fourth interface become one graph, whatever order they come in."""

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from recollect.importers import (
    Changed,
    ImportedMemory,
    Incoming,
    Refused,
    Row,
    graphiti,
    open_source,
    read_rows,
)

ZEP_PAGES: Sequence[Mapping[str, Any]] = (
    {
        "items": [
            {
                "uuid": "e1",
                "graph_uuid": "g",
                "scope": "entity",
                "source_node_uuid": "n1",
                "source_node_name": "Ada",
                "target_node_uuid": "n2",
                "target_node_name": "Oslo",
                "name": "LIVES_IN",
                "fact": "Ada lives in Oslo",
                "episode_uuids": ["p1"],
                "created_at": "2026-01-03T00:00:00Z",
                "valid_at": "2026-01-02T00:00:00Z",
            }
        ],
        "next_cursor": "c1",
    },
    {
        "items": [
            {
                "uuid": "p1",
                "graph_uuid": "g",
                "thread_uuid": "talk",
                "content": "I moved to Oslo.",
                "role": "user",
                "role_name": "Ada L.",
                "source": "message",
                "reference_time": "2026-01-02T00:00:00Z",
                "created_at": "2026-01-05T00:00:00Z",
            },
            {
                "uuid": "p2",
                "thread_uuid": "talk",
                "content": "Good.",
                "role": "assistant",
                "name": "Helper",
                "created_at": "2026-01-02T00:00:01Z",
            },
        ]
    },
    {"items": [{"uuid": "n1", "name": "Ada", "episode_uuids": ["p1"]}], "total_size": 1},
    {"items": [], "total_size": 0},
)


def rows_of(path: Path, *pages: Mapping[str, Any]) -> list[Row]:
    """Write pages, one a line, and read them."""
    path.write_text("".join(json.dumps(page) + "\n" for page in pages), "utf-8")
    with open_source(str(path)) as source:
        return list(read_rows(source))


def test_pages_of_zep_are_one_graph(tmp_path: Path) -> None:
    """Its fourth interface gives rows in pages; a fact may name entities that are not there."""
    path = tmp_path / "zep.jsonl"
    rows = rows_of(path, *ZEP_PAGES)

    assert not any(isinstance(row, Refused) for row in rows)
    said = [row for row in rows if isinstance(row, Incoming)]
    assert [("talk", "Ada L.", "user"), ("talk", "Helper", "assistant")] == [
        (row.thread, row.message.name, row.message.role) for row in said
    ]
    assert datetime(2026, 1, 2, tzinfo=UTC) == said[0].message.time
    kept = {str(row.record["text"]): row.record for row in rows if isinstance(row, ImportedMemory)}
    assert {"": [["talk", "p1", None]]} == kept["Ada lives in Oslo"]["evidence"]
    assert ["Entity", "Fact"] == sorted(str(record["type"]) for record in kept.values())


def test_what_a_page_holds_besides_is_counted(tmp_path: Path) -> None:
    """A page of a graph may hold rows of other kinds, each of which is left out."""
    page = {"items": [*ZEP_PAGES[2]["items"], {"uuid": "h1", "fact": "Three met", "edges": []}, 7]}

    rows = rows_of(tmp_path / "zep.json", page)

    left_out = [(row.what, row.count) for row in rows if isinstance(row, Changed)]
    assert [(graphiti.OTHER_LISTS, 2)] == left_out
    assert 1 == sum(isinstance(row, ImportedMemory) for row in rows)
