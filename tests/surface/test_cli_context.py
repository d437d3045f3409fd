"""`recollect context`: what a prompt should be told, as text and as JSON, and bad input."""

import json
from pathlib import Path

import anyio
import pytest
from click.testing import CliRunner, Result

import recollect
from recollect.cli import main
from recollect.recall.context import Context

ADA = ("users", "ada")
SAID = ("My boat is called Ida, and it leaks.", "\x1b[2Jred\x07 boat \u202eevil")


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Fill a store with a thread of Ada's and who she is."""
    path = str(tmp_path_factory.mktemp("context") / "store.db")

    async def fill() -> None:
        async with recollect.open(path, embedder="none") as memory:
            said = [recollect.NewMessage(role="user", text=each) for each in SAID]
            await memory.append(ADA, "monday", said)
            await memory.put(ADA, "User", "User", {"user_name": "Ada", "home": "Porto"})

    anyio.run(fill)
    return path


def invoke(store: str, *arguments: str) -> Result:
    """Ask for a context in Ada's scope of *store*."""
    environment = {
        "RECOLLECT_STORE": store,
        "RECOLLECT_SCOPE": "users/ada",
        "RECOLLECT_EMBEDDER": "none",
        "COLUMNS": "100",
    }
    result = CliRunner(env=environment).invoke(main, ["context", *arguments])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


def in_library(store: str, query: str) -> Context:
    """Return what the library gives."""

    async def ask() -> Context:
        async with recollect.open(store, embedder="none", worker=False) as memory:
            return await memory.context(ADA, query)

    return anyio.run(ask)


def test_it_prints_what_the_library_gives(store: str) -> None:
    """The text alone, or with all parts, or with what it costs."""
    asked = "What is my boat called?"
    context = in_library(store, asked)

    alone = invoke(store, asked, "--render").stdout
    document = json.loads(invoke(store, asked, "--json").stdout)
    table = invoke(store, asked, "--table").stdout

    assert f"{context.text}\n" == alone
    assert (context.text, context.tokens) == (document["text"], document["tokens"])
    assert table.startswith(alone)
    assert f"{context.tokens} tokens of 2,000: profile" in table
    assert "[" + document["entries"][0]["handle"] + "]" in alone


def test_what_was_left_out_is_counted_and_named_and_shown_on_request(store: str) -> None:
    """A pipe is not filled with what no prompt gets."""
    asked = ("What is my boat called?", "--min-score", "0.99", "--json")

    counted = json.loads(invoke(store, *asked).stdout)
    (named, *_) = json.loads(invoke(store, *asked, "--left-out").stdout)["left_out"]
    (shown, *_) = json.loads(invoke(store, *asked, "--whole").stdout)["left_out"]

    assert "left_out" not in counted
    assert {"score": len(SAID)} == counted["left_out_by_reason"]
    assert {"reason", "scope", "source", "relevance"} == set(named)
    assert named == {name: value for name, value in shown.items() if name != "entry"}
    assert shown["entry"]["text"] in SAID


def test_nothing_in_it_acts_on_a_terminal(store: str) -> None:
    """What is remembered is shown with its hidden characters written out."""
    printed = invoke(store, "Which boat?", "--table").stdout

    assert "\\u001b[2Jred" in printed
    assert not {"\x1b", "\x07", "\u202e"} & set(printed)


def test_a_thread_shows_its_words_already(store: str) -> None:
    """With --recent or --history, which gives them apart; another thread need not exist."""
    asked = "What is my boat called?"

    here, elsewhere = (
        json.loads(invoke(store, asked, "--thread", each, "--recent", "20").stdout)
        for each in ("monday", "none")
    )
    past = json.loads(invoke(store, asked, "--thread", "monday", "--history", "500").stdout)
    unseen = json.loads(invoke(store, asked, "--thread", "monday").stdout)
    table = invoke(store, asked, "--thread", "monday", "--history", "500", "--table").stdout

    assert not here["entries"]
    assert {"in the thread": len(SAID)} == here["left_out_by_reason"]
    assert elsewhere["entries"] == unseen["entries"] != []
    assert list(SAID) == [each["text"] for each in past["history"]]
    assert "history: 2 messages of the thread" in table
    assert "left out: 2 entries (in the thread 2)" in table


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["--budget", "0"], "budget_tokens is 0"),
        (["--history", "-1"], "history_tokens is -1"),
        (["--recent", "5000", "--thread", "t"], "recent messages: 5000"),
        (["--min-score", "2"], "min_score 2.0"),
        (["--thread", ""], "a thread id"),
        (["--budget", "many"], "not a valid integer"),
    ],
)
def test_what_cannot_be_is_named(store: str, arguments: list[str], named: str) -> None:
    result = invoke(store, "Which boat?", *arguments)

    assert result.exit_code == 2
    assert named in result.stderr


@pytest.mark.parametrize("query", ["", "  ", "Hello!"])
def test_what_asks_for_nothing_gets_the_profile(store: str, query: str) -> None:
    printed = invoke(store, query, "--render").stdout

    assert "- home: Porto" in printed
    assert "boat" not in printed


def test_a_budget_in_which_nothing_fits_and_a_long_query_are_answered(store: str) -> None:
    small = invoke(store, "Which boat?", "--budget", "1", "--table")
    large = json.loads(invoke(store, "Which boat is called Ida? " * 8_000, "--json").stdout)
    bare = invoke(store, "Hello!", "--no-profile", "--table")

    assert (0, "") == (
        small.exit_code,
        invoke(store, "Which boat?", "--budget", "1", "--render").stdout.strip(),
    )
    assert "0 tokens of 1: nothing is relevant" in small.stdout
    assert large["entries"]
    assert "nothing is relevant" in bare.stdout


def test_a_store_that_is_not_there_is_named(tmp_path: Path) -> None:
    """Reading makes none."""
    missing = tmp_path / "none.db"

    assert invoke(str(missing), "Which boat?").exit_code != 0
    assert not missing.exists()


@pytest.mark.parametrize("form", ["--render", "--json", "--table"])
def test_a_scope_that_holds_nothing_is_told(store: str, form: str) -> None:
    """On standard error, so that what is piped stays as it is; no empty line is printed."""
    told = invoke(store, "Which boat?", form, "--scope", "users/nobody")
    hello = invoke(store, "Hello!", form, "--scope", "users/ada", "--no-profile")

    assert 0 == told.exit_code
    assert "users/nobody" in told.stderr
    assert "there is something in users/ada" in told.stderr
    assert "" == hello.stderr
    assert form != "--render" or "" == told.stdout == hello.stdout
