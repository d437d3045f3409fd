"""`python -m benchmarks conversation` prints calls, tokens and times beside the originals."""

import json
from pathlib import Path

from click.testing import CliRunner

from benchmarks.program import main


def test_the_conversation_memories_are_measured_beside_the_originals(tmp_path: Path) -> None:
    """By default as many calls as the original, with an option fewer."""
    written = tmp_path / "report.json"

    result = CliRunner().invoke(
        main,
        ["conversation", "--turns", "6", "--messages", "20", "--json", str(written)],
    )

    assert 0 == result.exit_code, result.exception
    assert "beside langchain_classic 1." in result.stdout
    rows = json.loads(written.read_text("utf-8"))["rows"]
    calls, tokens = (
        {
            row["name"].partition(":")[0]: (row["value"], row["control_value"])
            for row in rows
            if row["unit"] == unit
        }
        for unit in ("calls", "tokens")
    )
    assert (6, 6) == calls["summary"]
    assert (2, 6) == calls["summary, every 5 turns"]
    assert calls["entity"][0] == calls["entity"][1]
    assert calls["entity, one call, every 5 turns"][0] < calls["entity, one call"][0]
    assert calls["entity, one call"][0] < calls["entity"][0]
    assert tokens["buffer"][0] == tokens["buffer"][1]
    assert tokens["window"][0] < tokens["buffer"][0]
    assert tokens["vector retriever"][1] is None
    assert (12, 12) == calls["graph"]
    assert (2, 12) == calls["graph, every 5 turns"]
    assert "(ratio 0.17)" in result.stdout
