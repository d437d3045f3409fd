"""Malformed answers of a model leave a reason, and never half a memory."""

import json
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import pytest

import recollect
from recollect.formation import patch as patching
from recollect.formation.answer import ReadAnswer, read_answer
from recollect.formation.config import FormationLimits, FormationSettings
from recollect.formation.types import NOTE, USER
from recollect.ports import ModelAnswer, ModelRequest, ToolCall
from recollect.records import Evidence, Formation, Json, JsonObject, Memory, NewMessage, PutMemory
from recollect.testing import FrozenClock, SeededIds
from recollect.testing.scripted_model import ScriptedModel
from recollect.worker import model_calls as asking
from recollect.worker.formation_result import FormationResult

REPAIRS: Final = 2
SAID: Final = (
    "I live in Bergen now. I turned thirty today.",
    "I like chess and rowing.",
    "My sister Wilma has moved to Porto.",
)
HUGE: Final = json.dumps("Bergen " * 20_000)
SECTIONED: Final = replace(USER, section_bytes_max=120)
KEPT: Final[JsonObject] = {
    "home": "Utrecht",
    "interests": ["chess"],
    "occupation": "baker of bread in a shop that opens at dawn, on the corner of our square",
}


def cited(message: Json = 1, quote: Json = "I live in Bergen", **more: Json) -> dict[str, Json]:
    """Return a citation."""
    return {"message": message, "quote": quote, **more}


def note(content: str = "Wilma has moved to Porto", **more: Json) -> dict[str, Json]:
    """Return the arguments of a good note."""
    value = {"context": "about the sister", "content": content}
    return {"value": value, "because": [cited(3, "My sister Wilma has moved to Porto")], **more}


def changed(op: str = "replace", path: Json = "/home", **more: Json) -> dict[str, Json]:
    """Return one patch operation."""
    value = {} if op in {"remove", "move", "copy"} else {"value": "Bergen"}
    return {"op": op, "path": path, **value, **cited(), **more}


def patched(*changes: Json, id_: Json = "m1") -> dict[str, Json]:
    """Return the arguments of a patch."""
    return {"id": id_, "changes": list(changes)}


def nested(levels: int, opening: str = "[", closing: str = "]") -> str:
    """Return JSON of so many levels."""
    return opening * levels + closing * levels


# Each text stands for the arguments of a call.
NO_JSON: Final = (
    " ",
    "null",
    "true",
    "[]",
    '"text"',
    "12",
    "{",
    "}",
    "{]",
    "nothing to remember",
    "```json\n{}\n```",
    'Sure! {"value": {}}',
    "{'value': {}}",
    '{"value": {},}',
    '{"value" {}}',
    "{} {}",
    "\ufeff{}",
    "\x00",
    '{"value": {"context": "a\x01b", "content": "c"}, "because": []}',
    '{"value": {"context": "a\nb"}}',
    '{"value": NaN}',
    '{"value": {"age": Infinity}}',
    '{"value": {"age": -Infinity}}',
    '{"value": 1e999}',
    '{"value": {"age": ' + "9" * 5_000 + "}}",
    '{"value": {"age": -' + "9" * 5_000 + "}}",
    '{"value": {"age": 0.' + "1" * 5_000 + "}}",
    '{"value": {"age": 01}}',
    '{"value": {"age": +1}}',
    '{"value": {"age": .5}}',
    '{"value": {"age": 0x1F}}',
    '{"value": {}, "value": {"context": "x"}}',
    '{"value": {"context": "a", "context": "b", "content": "c"}, "because": []}',
    '{"value": {"context": "\\ud800", "content": "c"}, "because": []}',
    '{"value": {"context": "\\udc00\\ud800", "content": "c"}, "because": []}',
    '{"value": {"context": "\ud800", "content": "c"}, "because": []}',
    '{"value": {"context": "\\u0000", "content": "c"}, "because": []}',
    '{"\\u0000": 1}',
    '{"\\ud800": 1}',
    '{"value": "\\x41"}',
    '{"value": undefined}',
    nested(100_000),
    nested(100_000, '{"a":', "}"),
    '{"value": ' + nested(100_000) + "}",
    '{"value": ' + nested(33) + ', "because": []}',
    '{"value": {"context": ' + HUGE + ', "content": ' + ",".join([HUGE] * 10) + "}}",
    "x" * 1_100_000,
    "{" + " " * 1_100_000 + "}",
    '{"a": /* why */ 1}',
    "{}\x00",
)
WRONG: Final[tuple[Json, ...]] = (
    None,
    True,
    0,
    -1,
    1.5,
    "",
    " ",
    "x",
    [],
    [1],
    {},
    {"a": 1},
    2**70,
)
QUOTES: Final = (
    "", " ", "\n\t", "…", "...", "!", "I live in Oslo", "I live in Bergen and in Porto",
    "My sister Wilma … has … moved … to … Lisbon", "住在卑尔根", "I live in Berge",
)  # fmt: skip
MESSAGES: Final = (0, -1, 4, 99, 10**9, 2**60, 1.0, "1", None, True)
PLACES: Final = (
    "", "/", "//", "/nowhere/at/all", "home", "/interests/", "/occupation/0", "/interests/7",
    "/interests/-1",
    "/interests/01", "/interests/+1", "/interests/1e0", "/~", "/~2", "/home~", "/interests/-/x",
    "#/home", "$.home", "/Home", "/constructor", "/__proto__", "/" + "a/" * 5_000, "/\ud800", "/\0",
)  # fmt: skip


def _arguments() -> Iterator[tuple[str, ToolCall | Sequence[ToolCall]]]:
    """Yield malformed calls, each with a name."""
    for number, text in enumerate(NO_JSON):
        for tool in ("Note", "patch_memory"):
            yield f"no JSON {number} {tool}", ToolCall(name=tool, arguments=text)
    for wrong in WRONG:
        shown = json.dumps(wrong)
        yield f"value {shown}", call("Note", {**note(), "value": wrong})
        if wrong != "x":
            value = {"context": "c", "content": wrong}
            yield f"content {shown}", call("Note", {**note(), "value": value})
        yield f"because {shown}", call("Note", {**note(), "because": wrong})
        yield f"citation {shown}", call("Note", {**note(), "because": [wrong]})
        if not isinstance(wrong, str) or not wrong:  # a wrong text is left out: see WRONG_DATES
            yield f"since {shown}", call("Note", {**note(), "since": wrong or 0})
        yield f"id {shown}", call("patch_memory", patched(changed(), id_=wrong))
        yield f"changes {shown}", call("patch_memory", {"id": "m1", "changes": wrong})
        yield f"change {shown}", call("patch_memory", patched(wrong))
        yield f"op {shown}", call("patch_memory", patched({**changed(), "op": wrong}))
        yield f"path {shown}", call("patch_memory", patched(changed(path=wrong)))
    for quote in QUOTES:
        yield f"quote {quote!r}", call("Note", {**note(), "because": [cited(quote=quote)]})
        yield f"patch's quote {quote!r}", call("patch_memory", patched(changed(quote=quote)))
    for message in MESSAGES:
        yield f"message {message!r}", call("Note", {**note(), "because": [cited(message)]})
        yield (
            f"patch's message {message!r}",
            call("patch_memory", patched(changed(message=message))),
        )
    for place in PLACES:
        yield f"path {place[:20]!r}", call("patch_memory", patched(changed(path=place)))
        yield (
            f"move {place[:20]!r}",
            call("patch_memory", patched(changed("move", **{"from": place}))),
        )
    yield from _wrong_calls()


def call(name: str, arguments: JsonObject) -> ToolCall:
    """Return a call with arguments as JSON."""
    return ToolCall(name=name, arguments=json.dumps(arguments))


def _wrong_calls() -> Iterator[tuple[str, ToolCall | Sequence[ToolCall]]]:
    for name in ("", "note", "Notes", "delete_memory", "User", "end_memory", "Fact", "a" * 10_000,
                 "\ud800", "\0", "patch_memory ", "functions.Note", "__init__"):  # fmt: skip
        yield f"tool {name[:12]!r}", call(name, note())
    for id_ in ("m0", "m2", "m99", "M1", "1", "User", "acme/users/bob/User", "m1 ", "m1\0"):
        yield f"memory {id_!r}", call("patch_memory", patched(changed(), id_=id_))
    for extra in ("because", "value", "reason", "type", "__class__", ""):
        yield f"more {extra!r}", call("patch_memory", {**patched(changed()), extra: 1})
    yield "hidden", call("patch_memory", patched(changed(path="/occupation")))
    yield "hidden removed", call("patch_memory", patched(changed("remove", "/occupation")))
    yield (
        "hidden copied",
        call("patch_memory", patched(changed("copy", "/home", **{"from": "/occupation"}))),
    )
    yield "whole replaced", call("patch_memory", patched(changed(path="", value={})))
    yield "wrong type", call("patch_memory", patched(changed(value=7)))
    yield "no such field", call("patch_memory", patched(changed("add", "/salary", value=1)))
    yield "too old", call("patch_memory", patched(changed("add", "/age", value=151)))
    yield "test fails", call("patch_memory", patched(changed("test", value="Lima"), changed()))
    yield "half applies", call("patch_memory", patched(changed(), changed("remove", "/age")))
    yield "invented", call("patch_memory", patched(changed(value="Lima")))
    yield (
        "evidence for nothing",
        call(
            "Note", {**note(), "because": [*_because(), cited(1, "I live in Bergen", path="/mood")]}
        ),
    )
    yield "too many citations", call("Note", {**note(), "because": _because() * 51})
    yield "too many changes", call("patch_memory", patched(*[changed()] * 101))
    yield "empty value", call("Note", {**note(), "value": {}})
    yield "deep object", ToolCall(name="Note", arguments={"value": _deep(5_000)})
    yield "NaN object", ToolCall(name="Note", arguments={"value": {"context": float("nan")}})
    yield "no object", ToolCall(name="Note", arguments=[])  # type: ignore[arg-type]
    yield "endless id", replace(call("Note", {}), id="i" * 100_000)
    yield "broken id", replace(call("Note", {}), id="\ud800\0")
    yield "10,000 calls", [call("Note", {})] * 10_000
    yield "all at once", [each for _, each in _few()] * 5


def _because() -> list[Json]:
    return list(note()["because"])  # type: ignore[arg-type]


def _few() -> Iterator[tuple[str, ToolCall]]:
    yield "no JSON", ToolCall(name="Note", arguments="{")
    yield "unknown", call("Nothing", {})
    yield "invented", call("patch_memory", patched(changed(value="Lima")))


def _deep(levels: int) -> JsonObject:
    value: JsonObject = {}
    for _ in range(levels):
        value = {"a": value}
    return value


MALFORMED: Final = dict(_arguments())
WHOLE: Final = {
    "nothing": ModelAnswer(),
    "words": ModelAnswer(text="There is nothing to remember."),
    "JSON as text": ModelAnswer(text=json.dumps(note())),
    "white space": ModelAnswer(text=" \n"),
    "refusal": ModelAnswer(text="I cannot help with that.", stopped="refusal"),
    "cut off": ModelAnswer(text="I was about to", stopped="length"),
    "broken text": ModelAnswer(text="\ud800\0" * 10),
    "endless text": ModelAnswer(text="and so on " * 200_000, stopped="length"),
}
WRONG_DATES: Final[dict[str, dict[str, Json]]] = {
    "white space": {"since": " "},
    "a word": {"since": "x"},
    "no such date": {"since": "2024-02-30"},
    "year 1": {"since": "0001-01-01T00:00+23:59"},
    "year 9999": {"until": "9999-12-31T23:59:59-23:59"},
    "ends before it begins": {"since": "2024-05-07", "until": "2023-05-07"},
    "broken text": {"until": "\u2028" * 50_000},
}
GOOD: Final[tuple[tuple[str, JsonObject], ...]] = (
    ("Note", note()),
    ("Note", note("Sister Wilma lives in Porto — “new” \\ café 🙂", since="2024-05-07")),
    ("patch_memory", patched(changed(), changed("add", "/age", value=30, quote="I turned thirty"))),
    (
        "patch_memory",
        patched(
            changed("add", "/interests/-", value="rowing", message=2, quote="chess and rowing")
        ),
    ),
    ("patch_memory", patched(changed("remove", "/interests/0", message=2, quote="I like chess"))),
)


@dataclass(frozen=True)
class Left:
    """The result of a formation: its end, receipt, memories, and number of requests."""

    result: FormationResult
    formation: Formation
    user: Memory
    notes: tuple[Memory, ...]
    calls: int
    waits: bool


@asynccontextmanager
async def opened(url: str = "memory:") -> AsyncIterator[recollect.Recollect]:
    """Open a memory in which answers are scripted one by one."""
    settings = FormationSettings(types=(SECTIONED, NOTE), limits=FormationLimits(repairs=REPAIRS))
    async with recollect.open(
        url,
        embedder="none",
        model=ScriptedModel(lambda _: ModelAnswer()),
        formation=settings,
        worker=False,
        clock=FrozenClock(),
        ids=SeededIds(1),
    ) as memory:
        yield memory


async def formed(
    memory: recollect.Recollect, name: str, answer: ModelAnswer, monkeypatch: pytest.MonkeyPatch
) -> Left:
    """Return the result of a model that always gives *answer*."""
    scope = ("users", name)
    model = ScriptedModel(lambda _: answer)
    assert memory.worker is not None
    monkeypatch.setattr(memory.worker._former, "_models", lambda _: model)
    said = Evidence(thread="before", message="m", quote="words")
    evidence = {f"/{field}": [said] for field in KEPT}
    await memory.apply(scope, [PutMemory(type="User", key="User", value=KEPT, evidence=evidence)])
    await memory.append(scope, "talk", [NewMessage(role="user", text=each) for each in SAID])
    (result,) = await memory.form(scope)
    (formation,) = (await memory.formations(scope)).rows
    user = await memory.get(scope, "User", "User")
    thread = await memory.thread(scope, "talk")
    assert user is not None
    assert thread is not None
    notes = (await memory.memories(scope, type_="Note")).rows
    return Left(result, formation, user, notes, len(model.requests), thread.pending)


def is_loss(left: Left) -> bool:
    """Return True if something that was asked for is neither stored, nor told, nor waits."""
    is_kept = bool(left.notes) or left.user.version > 1
    return not (is_told(left) or is_kept or (left.waits and left.formation.receipt.get("reason")))


def is_told(left: Left) -> bool:
    """Return True if the receipt names what was not stored, or waits for a person."""
    held = {each.action for each in left.result.outcomes} & {"refused", "quarantined"}
    return bool(left.formation.receipt["refused"] or held)


def test_there_are_enough_malformed_answers() -> None:
    """At least two hundred, not counting those that are cut off."""
    assert len(MALFORMED) + len(WHOLE) >= 200


@pytest.mark.parametrize(
    ("backend", "every"),
    [("memory:", 1), ("sqlite", 8), pytest.param("sqlite", 1, marks=pytest.mark.prove)],
)
async def test_a_malformed_answer_leaves_its_reason_and_nothing_else(
    backend: str, every: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No part of it is stored, all of it is told or waits, in at most three calls."""
    url = str(tmp_path / "store.db") if backend == "sqlite" else backend
    answers = {name: _answer_of(each) for name, each in MALFORMED.items()} | WHOLE
    wrong = {}
    async with opened(url) as memory:
        for number, (name, answer) in enumerate([*answers.items()][::every]):
            left = await formed(memory, f"u{number}", answer, monkeypatch)
            is_untouched = (1, KEPT, ()) == (left.user.version, left.user.value, left.notes)
            if is_loss(left) or not is_untouched or left.calls > 1 + REPAIRS:
                wrong[name] = left.result

    assert {} == wrong


@pytest.mark.parametrize("name", WRONG_DATES)
async def test_a_wrong_date_is_left_out_of_a_good_memory(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In one call; the receipt tells what was left out, and nothing of it is stored."""
    answer = _answer_of(call("Note", {**note(), **WRONG_DATES[name]}))
    async with opened() as memory:
        left = await formed(memory, "u", answer, monkeypatch)

    (kept,) = left.notes
    told = left.formation.receipt["notes"]
    assert (note()["value"], None, None, 1) == (
        kept.value, kept.valid_from, kept.valid_until, left.calls
    )  # fmt: skip
    assert isinstance(told, list)
    assert len(WRONG_DATES[name]) == sum(str(each).startswith("left out: ") for each in told)


def _answer_of(calls: ToolCall | Sequence[ToolCall]) -> ModelAnswer:
    return ModelAnswer(calls=(calls,) if isinstance(calls, ToolCall) else tuple(calls))


@pytest.mark.parametrize("name", [n for n in MALFORMED if n != "10,000 calls"][::9])
async def test_what_is_right_in_an_answer_survives_what_is_wrong(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A good note and a good patch are stored beside any malformed call, before or behind it."""
    good = (call("Note", note()), call("patch_memory", patched(changed())))
    wrong = _answer_of(MALFORMED[name]).calls
    async with opened() as memory:
        before = await formed(memory, "a", ModelAnswer(calls=(*good, *wrong)), monkeypatch)
        behind = await formed(memory, "b", ModelAnswer(calls=(*wrong[:90], *good)), monkeypatch)

    for left in (before, behind):
        assert ("Bergen", 2) == (left.user.value["home"], left.user.version)
        assert 1 == len(left.notes)
        assert is_told(left)


@pytest.mark.parametrize(("tool", "arguments"), GOOD)
@pytest.mark.parametrize("stopped", ["end", pytest.param("length", marks=pytest.mark.prove)])
async def test_an_answer_cut_at_any_byte_is_stored_whole_or_not_at_all(
    tool: str, arguments: JsonObject, stopped: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether its provider says that it was cut off or not."""
    whole = json.dumps(arguments, ensure_ascii=False).encode()
    wrong = []
    async with opened() as memory:
        expected = await formed(
            memory, "whole", ModelAnswer(calls=(ToolCall(name=tool, arguments=whole.decode()),)),
            monkeypatch,
        )  # fmt: skip
        for length in range(len(whole)):
            text = whole[:length].decode("utf-8", "surrogateescape")
            cut = ModelAnswer(
                calls=(ToolCall(name=tool, arguments=text),),
                stopped=stopped,  # type: ignore[arg-type]
            )
            left = await formed(memory, f"u{length}", cut, monkeypatch)
            is_untouched = (KEPT, ()) == (left.user.value, left.notes)
            if not is_untouched or is_loss(left) or not left.waits or left.calls > 1 + REPAIRS:
                wrong.append((length, left.result))

    assert expected.notes or expected.user.version == 2
    assert [] == wrong


async def test_a_lax_reader_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """The mutant: what cannot be read counts as nothing to remember."""

    def lax(*given: Any, **named: Any) -> ReadAnswer:
        return replace(read_answer(*given, **named), faults=(), is_whole=True)

    monkeypatch.setattr(asking, "read_answer", lax)
    async with opened() as memory:
        left = await formed(memory, "u", _answer_of(MALFORMED["no JSON 0 Note"]), monkeypatch)

    assert is_loss(left)


async def test_a_patch_that_is_carried_out_in_part_is_seen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The mutant: operations that can be carried out are, whatever becomes of the others."""
    from recollect.formation import answer, evidence
    from recollect.formation import document_updates as documents

    honest = patching.apply_patch

    def in_part(document: JsonObject, operations: Sequence[JsonObject]) -> JsonObject:
        for each in operations:
            try:
                document = honest(document, [each])
            except patching.PatchError:
                continue
        return document

    for module in (answer, documents, evidence):
        monkeypatch.setattr(module, "apply_patch", in_part)
    async with opened() as memory:
        left = await formed(memory, "u", _answer_of(MALFORMED["half applies"]), monkeypatch)

    assert KEPT != left.user.value


async def test_a_model_that_never_stops_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever it calls next, it is asked no more often than is configured."""
    asked: list[ModelRequest] = []

    def endless(request: ModelRequest) -> ModelAnswer:
        asked.append(request)
        return ModelAnswer(calls=tuple(call(f"Note{n}", note()) for n in range(len(asked))))

    async with opened() as memory:
        assert memory.worker is not None
        model = ScriptedModel(endless)
        monkeypatch.setattr(memory.worker._former, "_models", lambda _: model)
        await memory.append(("u",), "talk", [NewMessage(role="user", text=SAID[0])])
        await memory.form(("u",))

    assert 1 + REPAIRS == len(asked)
