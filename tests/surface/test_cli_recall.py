"""`recollect recall`, `threads` and `memories`: what is held is shown, and acts on nobody."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import anyio
import pytest
from click.testing import CliRunner, Result

import recollect
from recollect.cli import main, output
from recollect.side_records import FORGOTTEN, PutSideRecord
from tests.harness.rendered_blocks import read_block

ADA = ("users", "ada")
MOVED = datetime(2024, 5, 4, tzinfo=UTC)
SAID = (
    ("m1", "We are moving from Bergen to Oslo in May."),
    ("m2", "The cat is called Tom."),
    ("m3", "\x1b[2J\x1b[31mred\x07 [bold]text[/bold] \u202eevil"),
)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Fill a store with a thread of Ada's and what is known of her."""
    path = str(tmp_path_factory.mktemp("recall") / "store.db")
    anyio.run(_fill, path)
    return path


async def _fill(path: str) -> None:
    async with recollect.open(path, embedder="none") as memory:
        messages = [
            recollect.NewMessage(role="user", id=id_, text=text, time=MOVED) for id_, text in SAID
        ]
        await memory.append(ADA, "chat", messages)
        await memory.append(
            (*ADA, "work"), "desk", [recollect.NewMessage(role="user", text="Tom?")]
        )
        proof = {"": [recollect.Evidence(thread="chat", message="m1", quote="from Bergen to Oslo")]}
        await memory.put(ADA, "Item", "bergen", {"city": "Bergen"}, valid_until=MOVED)
        await memory.put(ADA, "Item", "oslo", {"city": "Osolo"})
        await memory.put(ADA, "Item", "oslo", {"city": "Oslo"}, valid_from=MOVED, evidence=proof)


def invoke(store: str, *arguments: str) -> Result:
    """Run a command on Ada's scope of *store*."""
    environment = {
        "RECOLLECT_STORE": store,
        "RECOLLECT_SCOPE": "users/ada",
        "RECOLLECT_EMBEDDER": "none",
        "COLUMNS": "100",
    }
    result = CliRunner(env=environment).invoke(main, list(arguments))
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


def sources(result: Result) -> list[str]:
    """Return the sources of the entries that were recalled, best first."""
    return [
        f"{each['thread']}/{each['id']}"
        if each["kind"] == "message"
        else f"{each['type']}/{each['key']}"
        for each in json.loads(result.stdout)["entries"]
    ]


def acts_on_terminal(printed: str) -> bool:
    """Return True if *printed* holds a character that a terminal obeys or that hides others."""
    return any(each in printed for each in ("\x1b", "\x07", "\u202e"))


def test_recall_gives_entries_with_their_reasons(store: str) -> None:
    """The parts of the signals sum to the score."""
    document = json.loads(invoke(store, "recall", "What is the cat called?").stdout)

    best = document["entries"][0]
    assert ("chat", "m2", "user") == (best["thread"], best["id"], best["role"])
    assert "The cat is called Tom." == best["content"]["text"]
    assert best["score"] == pytest.approx(sum(each["part"] for each in best["signals"]))
    assert 4 == document["eligible"]
    assert 0 < document["ms"]["again"]


def test_the_table_shows_rank_score_date_source_text_and_parts(store: str) -> None:
    """All on a few lines an entry."""
    printed = invoke(store, "recall", "What is the cat called?", "--limit", "1", "--table").stdout

    head, text, parts, *below = printed.splitlines()
    assert head.startswith("1.  ")
    assert head.endswith("2024-05-04 00:00  user  chat/m2")
    assert "    The cat is called Tom." == text
    assert "entry +" in parts
    assert below[0].startswith("1 of 4 entries, ")
    assert "asked once more" in below[1]


def test_a_message_without_words_is_not_told_as_left_out(tmp_path: Path) -> None:
    """No limit kept it out, so that a larger one would not show it."""
    path = str(tmp_path / "store.db")
    call = recollect.NewMessage(role="assistant", text="", content=[{"type": "tool_call"}])
    with recollect.open_sync(path, embedder="none") as memory:
        memory.append(ADA, "chat", [call, recollect.NewMessage(role="user", text="Tom?")])

    result = invoke(path, "recall", "Tom", "--table")

    assert "1 of 2 entries" in result.output
    assert "left out" not in result.output


def test_recall_can_be_narrowed(store: str) -> None:
    """By type, thread, time, scope and budget."""
    assert ["Item/oslo"] == sources(invoke(store, "recall", "city", "--type", "Item"))
    assert {"chat"} == {
        source.partition("/")[0]
        for source in sources(invoke(store, "recall", "x", "--thread", "chat"))
    }
    assert [] == sources(invoke(store, "recall", "Tom", "--until", "2024-01-01"))
    assert 1 == len(sources(invoke(store, "recall", "Tom", "--limit", "1")))
    assert any(
        source.startswith("desk/") for source in sources(invoke(store, "recall", "Tom", "--below"))
    )
    assert 1 == len(sources(invoke(store, "recall", "Tom", "--budget", "1")))


def test_recall_goes_back_in_time(store: str) -> None:
    """To what was true, and to what was known."""
    true_then = invoke(store, "recall", "city", "--type", "Item", "--valid-at", "2024-03-01")
    ever = invoke(store, "recall", "city", "--type", "Item", "--valid-at", "ever")
    unknown = invoke(store, "recall", "city", "--known-at", "2020-01-01T00:00:00Z")

    assert ["Item/bergen"] == sources(true_then)
    assert {"Item/bergen", "Item/oslo"} == set(sources(ever))
    assert [] == sources(unknown)


def test_recall_renders_the_block_for_a_prompt(store: str) -> None:
    """And prints nothing else."""
    printed = invoke(store, "recall", "cat", "--render", "--limit", "1").stdout

    (record,) = read_block(printed.rstrip("\n"))
    assert "The cat is called Tom." == record.text


@pytest.mark.parametrize("form", ["--table", "--json"])
@pytest.mark.parametrize(
    "command",
    [
        ["threads"],
        ["memories"],
        ["recall", "cat"],
        ["context", "cat"],
        ["formation", "list"],
        ["export"],
    ],
    ids=lambda each: each[0],
)
def test_an_empty_scope_names_those_below_it_or_elsewhere(
    store: str, command: Sequence[str], form: str
) -> None:
    """On standard error, unless it holds something, or something below it was looked for."""
    above, beside, itself, below = (
        invoke(store, *command, form, *more).stderr
        for more in (
            ["--scope", "users"],
            ["--scope", "elsewhere"],
            [],
            ["--scope", "users", "--below"],
        )
    )

    assert "'users' holds nothing itself; --below finds users/ada, users/ada/work" in above
    assert "'elsewhere' holds nothing; there is something in users/ada" in beside
    assert "holds nothing" not in itself + below


def test_recall_in_an_empty_scope_says_where_something_is(store: str) -> None:
    """On standard error; the answer is empty, and no failure."""
    result = invoke(store, "recall", "cat", "--scope", "elsewhere")

    assert 0 == result.exit_code
    assert "there is something in users/ada" in result.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ["recall", " "],
        ["recall", "x", "--limit", "0"],
        ["recall", "x", "--since", "yesterday"],
        ["recall", "x", "--budget", "0"],
        ["threads", "--limit", "0"],
        ["memories", "--where", "{"],
        ["memories", "--where", "[]"],
        ["memories", "Item"],
    ],
)
def test_what_cannot_be_answered_is_refused(store: str, arguments: Sequence[str]) -> None:
    """With status 2 and a sentence."""
    result = invoke(store, *arguments)

    assert 2 == result.exit_code
    assert "" == result.stdout
    assert result.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ["recall", "red text", "--table"],
        ["threads", "chat", "--table"],
        ["recall", "red text", "--thread", "chat", "--table", "--limit", "3"],
    ],
)
def test_what_was_remembered_does_not_act_on_the_terminal(
    store: str, arguments: Sequence[str]
) -> None:
    """Control sequences are shown as what they are not, and brackets are no markup."""
    printed = invoke(store, *arguments).stdout

    assert "[bold]text[/bold]" in printed
    assert not acts_on_terminal(printed)


def test_text_that_acts_would_be_noticed(store: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The mutant: printed as it is, the text reaches the terminal."""
    monkeypatch.setattr(output, "visible", lambda text: text)

    printed = invoke(store, "threads", "chat", "--table").stdout

    assert acts_on_terminal(printed)


def test_threads_are_listed(store: str) -> None:
    """With what they hold, and the scopes below only when asked."""
    itself = json.loads(invoke(store, "threads").stdout)["threads"]
    below = json.loads(invoke(store, "threads", "--below").stdout)["threads"]

    assert [("chat", 3)] == [(each["id"], each["count"]) for each in itself]
    assert ["chat", "desk"] == [each["id"] for each in below]
    assert "3 waiting" in invoke(store, "threads", "--table").stdout


def test_the_newest_messages_of_a_thread_are_shown(store: str) -> None:
    """In their order."""
    document = json.loads(invoke(store, "threads", "chat", "--limit", "2").stdout)

    assert ["m2", "m3"] == [each["id"] for each in document["messages"]]
    assert document["is_more"]


def test_memories_are_listed(store: str) -> None:
    """By type and key, narrowed by time and value."""
    everything = json.loads(invoke(store, "memories").stdout)["memories"]
    narrowed = json.loads(invoke(store, "memories", "--where", '{"city": "Oslo"}').stdout)
    earlier = json.loads(invoke(store, "memories", "--valid-at", "2024-03-01").stdout)
    limited = json.loads(invoke(store, "memories", "--limit", "1").stdout)

    assert ["bergen", "oslo"] == [each["key"] for each in everything]
    assert ["oslo"] == [each["key"] for each in narrowed["memories"]]
    assert ["bergen"] == [each["key"] for each in earlier["memories"]]
    assert limited["is_more"]


def test_what_stands_beside_memories_is_not_listed(tmp_path: Path) -> None:
    """A memory may be of the type that a side record has as its kind: that alone is listed."""
    path = str(tmp_path / "memory.db")

    async def fill() -> None:
        async with recollect.open(path, embedder="none", worker=False) as memory:
            kept = PutSideRecord(kind=FORGOTTEN, key="a1", value={})
            await memory.store.apply(("users", "ada"), [kept])
            await memory.put(("users", "ada"), FORGOTTEN, "umbrella", {"content": "blue"})
            await memory.put(("users", "ada"), "Item", "tea", {"content": "green"})

    anyio.run(fill)

    everything = json.loads(invoke(path, "memories").stdout)["memories"]
    named = json.loads(invoke(path, "memories", "--type", FORGOTTEN).stdout)["memories"]
    assert (["umbrella", "tea"], ["umbrella"]) == tuple(
        [each["key"] for each in found] for found in (everything, named)
    )


def test_the_history_of_a_memory_is_shown(store: str) -> None:
    """Every version, with the words that it rests on."""
    versions = json.loads(invoke(store, "memories", "Item/oslo").stdout)["versions"]
    printed = invoke(store, "memories", "Item/oslo", "--table").stdout

    assert ["Osolo", "Oslo"] == [each["value"]["city"] for each in versions]
    assert "chat/m1 “from Bergen to Oslo”" in printed
    assert "true 2024-05-04 00:00 – …" in printed


@pytest.mark.parametrize("arguments", [["threads", "missing"], ["memories", "Item/missing"]])
def test_what_does_not_exist_is_not_found(store: str, arguments: Sequence[str]) -> None:
    """With status 3."""
    result = invoke(store, *arguments)

    assert 3 == result.exit_code
    assert "in the scope 'users/ada'" in result.stderr


def test_nothing_is_changed_by_looking(store: str) -> None:
    """The store exports the same afterwards."""
    before = invoke(store, "export", "--below").stdout
    for arguments in (["recall", "x"], ["threads"], ["memories"], ["doctor"]):
        invoke(store, *arguments)

    assert before == invoke(store, "export", "--below").stdout
    assert Path(store).exists()
