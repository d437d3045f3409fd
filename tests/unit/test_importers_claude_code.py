"""Session files of Claude Code, made up here with the field names that are known of them."""

import json
from pathlib import Path
from typing import Any

import pytest

from recollect.errors import NotFoundError
from recollect.importers import claude_code, open_source
from recollect.importers.file_forms import read_rows
from recollect.importers.import_entries import REASONING, Changed, Incoming, Refused, Row

SESSION = "5f9d3c1e-0000-4000-8000-000000000001"


def line(number: int, type_: str, content: Any, **more: Any) -> dict[str, Any]:
    """Return a line of a session."""
    return {
        "type": type_,
        "uuid": f"u{number}",
        "parentUuid": f"u{number - 1}" if number else None,
        "sessionId": SESSION,
        "timestamp": f"2026-05-01T12:00:{number:02}.000Z",
        "cwd": "/projects/boat",
        "gitBranch": "main",
        "isSidechain": False,
        "message": {"role": type_, "content": content},
        **more,
    }


def text(words: str) -> dict[str, str]:
    return {"type": "text", "text": words}


TALK = [
    {"type": "queue-operation", "operation": "enqueue", "sessionId": SESSION, "content": "Use"},
    {"type": "file-history-snapshot", "messageId": "m", "sessionId": SESSION, "snapshot": {}},
    line(0, "user", "Use tabs, never spaces."),
    line(1, "assistant", [
        {"type": "thinking", "thinking": "hm"}, text("I will."),
        {"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": "ls"}},
    ]),
    line(2, "user", [{"type": "tool_result", "tool_use_id": "t", "content": "secret.txt"}]),
    line(3, "assistant", [text("Done."), text("Two files.")]),
    line(4, "user", "<command-name>/clear</command-name>"),
    line(5, "user", "<local-command-stdout>ok</local-command-stdout>"),
    line(6, "user", "This session is being continued.", isCompactSummary=True),
    line(7, "user", "Caveat: generated", isMeta=True),
    line(8, "user", "You are a sub-agent.", isSidechain=True),
    line(9, "user", [text("And run the tests."), {"type": "image", "source": {}}]),
    line(10, "assistant", [text("[Request interrupted by user]")]),
    {"type": "system", "subtype": "turn_duration", "uuid": "s", "sessionId": SESSION},
    {"type": "last-prompt", "lastPrompt": "And run", "leafUuid": "u9", "sessionId": SESSION},
    {"type": "summary", "summary": "Tabs", "leafUuid": "u3"},
]  # fmt: skip


def rows_of(folder: Path, *lines: Any) -> list[Row]:
    """Return the rows of a session file."""
    path = folder / f"{SESSION}.jsonl"
    path.write_text("".join(json.dumps(each) + "\n" for each in lines), "utf-8")
    with open_source(str(path)) as source:
        return list(read_rows(source))


def test_what_was_said_becomes_a_thread(tmp_path: Path) -> None:
    """The words of the user and of the assistant, with ids, times and branch."""
    said = [each for each in rows_of(tmp_path, *TALK) if isinstance(each, Incoming)]

    assert {SESSION} == {each.thread for each in said}
    assert [
        ("user", "u0", "Use tabs, never spaces."),
        ("assistant", "u1", "I will."),
        ("assistant", "u3", "Done.\n\nTwo files."),
        ("user", "u9", "And run the tests."),
    ] == [(each.message.role, each.message.id, each.message.text) for each in said]
    first = said[0].message
    assert ({"branch": "main"}, "claude-code") == (first.metadata, first.source)
    assert first.time
    assert "2026-05-01T12:00:00+00:00" == first.time.isoformat()


def test_what_nobody_said_is_counted(tmp_path: Path) -> None:
    """Results of tools, and what the program wrote in the user's name, are never the user's."""
    rows = rows_of(tmp_path, *TALK)
    counts: dict[str, int] = {}
    for each in rows:
        if isinstance(each, Changed):
            counts[each.what] = counts.get(each.what, 0) + each.count

    assert {
        claude_code.EVENTS: 10,
        claude_code.TOOLS: 2,
        REASONING: 1,
        claude_code.PICTURES: 1,
        claude_code.AGENTS: 1,
    } == counts
    assert not [each for each in rows if isinstance(each, Refused)]


@pytest.mark.parametrize(
    "broken",
    [
        line(0, "user", None),
        line(0, "user", 5),
        {**line(0, "user", "x"), "uuid": 7},
        {**line(0, "user", "x"), "sessionId": ""},
        {**line(0, "user", "x"), "timestamp": "yesterday"},
        {**line(0, "user", "x"), "message": "x"},
    ],
)
def test_a_broken_line_is_refused_alone(tmp_path: Path, broken: dict[str, Any]) -> None:
    rows = rows_of(tmp_path, broken, line(1, "user", "Use tabs."))

    assert [Refused, Incoming] == [type(each) for each in rows]


def test_the_sessions_of_a_project_are_found(tmp_path: Path) -> None:
    """In the folder that Claude Code names after the project's; one without any is told."""
    folder = tmp_path / "projects" / "-projects-my-boat-2-0"
    folder.mkdir(parents=True)
    folder.joinpath("a.jsonl").touch()
    folder.joinpath("notes.txt").touch()

    found = claude_code.session_files(Path("/projects/my_boat.2.0"), tmp_path)

    assert [str(folder / "a.jsonl")] == found
    with pytest.raises(NotFoundError, match="name the files"):
        claude_code.session_files(Path("/elsewhere"), tmp_path)
