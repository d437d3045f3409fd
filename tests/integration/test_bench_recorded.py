"""Recorded facts drive formation: each is stored, or it is told why not, and nothing is lost."""

import gzip
import json
from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest

from benchmarks.formation_at_size import FormedRow, form_recorded, formed_page
from benchmarks.recorded_facts import RECORDINGS, read_sessions
from recollect.errors import UsageError

Row = Mapping[str, object]
TALK = "talk-1"

SAID = {
    "s1": (
        ("user", "I keep three hens in Ghent.\nThey are called Uma, Ivo and Bo."),
        ("assistant", "Hens lay fewer eggs in December, when days are short."),
        ("user", "Mine still lay two eggs a day."),
    ),
    "s2": (
        ("user", "我在苏州养了四只鸭子。"),
        ("assistant", "鸭子喜欢水。"),
    ),
    "s3": (("user", "Good night."),),
}


def note(number: int, session: str, text: str, *evidence: int, **more: object) -> Row:
    """Make one section of a note, resting on messages by their place in a session."""
    return {
        "note_id": f"{TALK}:hens:{number}",
        "conversation_id": TALK,
        "session_id": f"{TALK}:{session}",
        "timestamp": "2024-03-05T09:00:00",
        "note": "hens",
        "description": None,
        "section": "poultry",
        "text": text,
        "evidence": [f"{TALK}:{session}:{each}" for each in evidence],
        "evidence_level": "turn",
        **more,
    }


NOTES = (
    note(1, "s1", "- Keeps three hens in Ghent\n- They are Uma, Ivo and Bo", 0),
    note(2, "s1", "Hens lay fewer eggs in December", 1),
    note(3, "s1", "The hens lay nine eggs a day", 2),
    note(4, "s2", "在苏州养四只鸭子", 0, 1),
    note(5, "s2", "养了鸭子", evidence_level="session", section=None),
)


def write(path: Path, rows: Iterable[Row]) -> None:
    """Write rows as JSON Lines, packed where the name says so."""
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(text) if path.suffix == ".gz" else text)


def message(conversation: str, session: str, number: int, role: str, text: str) -> Row:
    """Make one row of a talk."""
    return {
        "conversation_id": conversation,
        "session_id": f"{conversation}:{session}",
        "message_id": f"{conversation}:{session}:{number}",
        "seq": number,
        "timestamp": f"2024-03-0{session[1]}T09:0{number}:00",
        "speaker": role,
        "role": role,
        "text": text,
    }


@pytest.fixture
def sets(tmp_path: Path) -> Path:
    """Return a folder with a talk, another that nothing was recorded of, and the notes."""
    rows = [
        message(conversation, session, number, role, text)
        for conversation in (TALK, "talk-2")
        for session, lines in SAID.items()
        for number, (role, text) in enumerate(lines)
    ]
    write(tmp_path / "longmemeval" / "conversations.jsonl", rows)
    write(tmp_path / "longmemeval" / "questions.jsonl", [])
    write(tmp_path / "recorded_reme_lme" / "notes.jsonl.gz", NOTES)
    return tmp_path


@pytest.mark.parametrize("folder", [".", "longmemeval"])
def test_notes_are_read_with_the_sessions_that_they_are_about(sets: Path, folder: str) -> None:
    """From the folder of all sets, or the talks' own; a talk without notes is skipped."""
    sessions = read_sessions(RECORDINGS["reme"], sets / folder)

    assert [f"{TALK}:{each}" for each in SAID] == [each.id for each in sessions]
    assert [3, 2, 0] == [len(each.facts) for each in sessions]
    assert [3, 2, 1] == [len(each.messages) for each in sessions]
    assert ["poultry", "hens"] == [fact.subject for fact in sessions[1].facts]


def test_a_note_about_a_session_cites_what_the_user_said(sets: Path) -> None:
    """One about messages cites those."""
    facts = read_sessions(RECORDINGS["reme"], sets)[1].facts

    user, assistant = f"{TALK}:s2:0", f"{TALK}:s2:1"
    assert [(user, assistant), (user,)] == [fact.evidence for fact in facts]


def test_a_recording_that_is_not_there_is_told(sets: Path) -> None:
    """With what was looked for."""
    (sets / "recorded_reme_lme" / "notes.jsonl.gz").unlink()

    with pytest.raises(UsageError, match=r"no 'notes.jsonl' in 'recorded_reme_lme' or 'reme'"):
        read_sessions(RECORDINGS["reme"], sets)


async def rows_of(sets: Path) -> tuple[FormedRow, FormedRow]:
    """Return what becomes of the notes, and of the control's."""
    report = await form_recorded("reme", read_sessions(RECORDINGS["reme"], sets))
    recorded, control = report.rows
    return recorded, control


async def test_every_recorded_note_is_accounted_for(sets: Path) -> None:
    """Stored, quarantined for what nobody said, or refused where no user said any of it."""
    recorded, _ = await rows_of(sets)

    assert (3, 6, 5) == (recorded.sessions, recorded.messages, recorded.offered)
    assert (3, {"formed": 3}) == (recorded.formations, dict(recorded.ends))
    assert {"stored": 3, "quarantined": 1, "refused": 1} == dict(recorded.actions)
    assert {
        "quarantined: a number that nobody said": 1,
        "refused: no user said it": 1,
    } == dict(recorded.reasons)
    assert (0, 0) == (recorded.waiting, recorded.lost)


async def test_what_is_misquoted_is_refused_to_the_last_note(sets: Path) -> None:
    """The control of the same run: a formation that stored any of it would check nothing."""
    _, control = await rows_of(sets)

    assert {"refused": 5} == dict(control.actions)
    assert {"refused: words that were not said": 5} == dict(control.reasons)
    assert (5, 0, 0) == (control.offered, control.waiting, control.lost)


async def test_the_page_tells_counts_and_reasons(sets: Path) -> None:
    """A line for each model, and below it why what was not stored was not."""
    page = formed_page(await form_recorded("reme", read_sessions(RECORDINGS["reme"], sets)))

    assert "recorded in reme: 3 sessions, 6 messages" in page
    assert "1  quarantined: a number that nobody said" in page
    assert "5  refused: words that were not said" in page
