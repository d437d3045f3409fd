"""Recorded answers repeat a run without a model."""

import json
import stat
from dataclasses import replace
from pathlib import Path

import pytest

from recollect.errors import ModelError, ModelUnavailableError, UsageError
from recollect.models import RecordedModel, Replay
from recollect.ports import ModelAnswer, ModelRequest, Tool, ToolCall, Turn, Usage
from recollect.testing.scripted_model import ScriptedModel

pytestmark = pytest.mark.anyio

NOTE = Tool(name="note", description="Keep a note.", parameters={"type": "object"})
REQUEST = ModelRequest(
    system="Remember.", turns=(Turn(role="user", text="I am Ada."),), tools=(NOTE,)
)
ANSWER = ModelAnswer(
    text="我养猫 \udcff",
    calls=(
        ToolCall(name="note", arguments='{"a": NaN', id="c1"),
        ToolCall(name="note", arguments={"a": [1, None]}, id="c2"),
    ),
    stopped="length",
    usage=Usage(input_tokens=5, output_tokens=3, cached_tokens=2),
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "run.jsonl"


async def test_what_was_recorded_is_answered_again(path: Path) -> None:
    """To the last field, under the recorded model's name."""
    recording = RecordedModel(ScriptedModel([ANSWER], identity="openai/m"), path)

    live = await recording.answer(REQUEST)
    replay = Replay(path)

    assert ANSWER == live == await replay.answer(REQUEST)
    assert "openai/m" == recording.identity == replay.identity


async def test_the_file_is_for_its_owner_and_holds_no_request(path: Path) -> None:
    """Only digests of it."""
    await RecordedModel(ScriptedModel(["Hello"]), path).answer(REQUEST)

    assert 0o600 == stat.S_IMODE(path.stat().st_mode)
    assert "Ada" not in path.read_text("utf-8")


async def test_equal_requests_get_their_answers_in_order(path: Path) -> None:
    """Then the last of them again."""
    recording = RecordedModel(ScriptedModel(["one", "two"]), path)
    for _ in range(2):
        await recording.answer(REQUEST)
    replay = Replay(path)

    found = [(await replay.answer(REQUEST)).text for _ in range(3)]

    assert ["one", "two", "two"] == found


async def test_a_stream_is_recorded_piece_by_piece(path: Path) -> None:
    """When all of it has come; one that was left is not."""
    recording = RecordedModel(ScriptedModel(["Hello, Ada", "left alone"]), path)
    live = [piece async for piece in recording.stream(REQUEST)]
    async for _ in recording.stream(REQUEST):
        break

    replayed = [piece async for piece in Replay(path).stream(REQUEST)]

    assert ["Hello, ", "Ada"] == live == replayed
    assert 1 == len(path.read_text("utf-8").splitlines())


async def test_a_recorded_text_streams_whole(path: Path) -> None:
    await RecordedModel(ScriptedModel(["Hello, Ada"]), path).answer(REQUEST)

    assert ["Hello, Ada"] == [piece async for piece in Replay(path).stream(REQUEST)]


async def test_a_failure_is_not_recorded(path: Path) -> None:
    """The next run shall not fail because this one did."""
    recording = RecordedModel(ScriptedModel([ModelUnavailableError("busy")]), path)

    with pytest.raises(ModelUnavailableError):
        await recording.answer(REQUEST)

    assert not path.exists()


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        (replace(REQUEST, system="Forget."), "where system differs;"),
        (replace(REQUEST, turns=(Turn(role="user", text="I am Bo."),)), r"turns\[0\] differs;"),
        (replace(REQUEST, turns=(*REQUEST.turns, REQUEST.turns[0])), r"turns\[1\] was not"),
        (replace(REQUEST, turns=()), r"turns\[0\] was recorded and is missing"),
        (replace(REQUEST, tools=(replace(NOTE, description="x"),)), "tool 'note' differs"),
        (replace(REQUEST, tools=()), "tool 'note' was recorded and is missing"),
        (replace(REQUEST, must_call=True), "must_call differs"),
        (replace(REQUEST, output_tokens_max=9), "output_tokens_max differs"),
    ],
)
async def test_an_unknown_request_is_told_apart(
    path: Path, changed: ModelRequest, words: str
) -> None:
    """From the nearest recorded one, part by part."""
    recording = RecordedModel(ScriptedModel(["far", "near"]), path)
    await recording.answer(ModelRequest(system="Else", turns=(), must_call=True))
    await recording.answer(REQUEST)

    with pytest.raises(ModelError, match=words) as failure:
        await Replay(path).answer(changed)

    assert "of 2 the nearest is that of line 2" in str(failure.value)


async def test_an_empty_recording_says_so(path: Path) -> None:
    path.touch()

    with pytest.raises(ModelError, match="it is empty"):
        await Replay(path).answer(REQUEST)


def test_a_missing_recording_says_so(path: Path) -> None:
    with pytest.raises(UsageError, match="there is no recording"):
        Replay(path)


@pytest.mark.parametrize("broken", ["{", "[]", '{"format": 2}', "\x00", "[" * 100_000])
async def test_a_broken_line_is_named(path: Path, broken: str) -> None:
    """So that it can be mended by hand."""
    await RecordedModel(ScriptedModel(["Hello"]), path).answer(REQUEST)
    with path.open("a", encoding="utf-8") as file:
        file.write(f"{broken}\n")

    with pytest.raises(UsageError, match="line 2 of"):
        Replay(path)


@pytest.mark.parametrize(
    ("field", "value"),
    [("calls", 7), ("calls", [{"nam": 1}]), ("stopped", "tired"), ("usage", []), ("text", ...)],
)
async def test_a_line_with_a_wrong_part_is_named(path: Path, field: str, value: object) -> None:
    """Also where it is JSON."""
    await RecordedModel(ScriptedModel(["Hello"]), path).answer(REQUEST)
    line = json.loads(path.read_text("utf-8"))
    if value is ...:
        del line["answer"][field]
    else:
        line["answer"][field] = value
    path.write_text(json.dumps(line), "utf-8")

    with pytest.raises(UsageError, match="line 1 of"):
        Replay(path)


async def test_an_answer_that_is_no_json_cannot_be_recorded(path: Path) -> None:
    """It is said, and the file stays whole."""
    deep: dict[str, object] = {}
    for _ in range(100_000):
        deep = {"a": deep}
    call = ToolCall(name="note", arguments=deep, id="c")  # type: ignore[arg-type]
    model = ScriptedModel([ModelAnswer(calls=(call,), usage=Usage(input_tokens=1))])

    with pytest.raises(ModelError, match="cannot be recorded"):
        await RecordedModel(model, path).answer(REQUEST)

    assert not path.exists()
