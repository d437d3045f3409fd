"""The demonstration and the examples run, and what they and README.md show is so."""

import json
import os
import re
import subprocess
import sys
from collections import Counter
from importlib.resources import files
from pathlib import Path
from typing import Any

import anyio
import pytest
from click.testing import CliRunner

import recollect
from benchmarks.answer_rows import read_rows
from benchmarks.program import main as benchmarks
from benchmarks.recall_report import from_rows
from recollect.cli import main
from recollect.cli.output import program_name
from recollect.demo.acts import QUESTIONS, DemoQuestion, Timed, ask, count_in_files
from recollect.demo.story import SCOPE, StoryClock, play, read_chapters, read_messages
from recollect.errors import EXIT_STATUS
from recollect.records import PutMemory

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted(ROOT.joinpath("examples").glob("*.py"))
ENVIRONMENT = {"RECOLLECT_EMBEDDER": "none", "COLUMNS": "100", "RECOLLECT_STORE": None}


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """Show the demonstration, and keep its store."""
    store = tmp_path_factory.mktemp("demo") / "demo.db"
    result = CliRunner(env=ENVIRONMENT).invoke(main, ["demo", "--keep", str(store)])
    assert result.exit_code == 0, result.stderr or result.exception
    return result.stdout, store


def test_the_demonstration_shows_every_act(printed: tuple[str, Path]) -> None:
    """Keep, recall, then and now, the prompt, forget, and what to do next."""
    text, _ = printed

    for heading in ("1. Keep", "2. Recall", "3. Then", "4. For the prompt", "5. Forget", "Next"):
        assert f"\n{heading}" in text
    # In a pipe `make demo` ends here: without this line nothing leads to the page.
    assert "recollect demo --serve" in text


def test_a_kept_demonstration_says_how_it_is_opened_again(printed: tuple[str, Path]) -> None:
    """At its end, and where a second one is asked for; the memories are found by that command."""
    text, store = printed
    again = CliRunner(env=ENVIRONMENT).invoke(main, ["demo", "--keep", str(store)])
    command = f"recollect serve --open --store {store} --model rules"

    assert EXIT_STATUS["usage"] == again.exit_code
    assert command in again.stderr
    assert command in text


def test_without_its_page_the_demonstration_offers_no_address(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It says once what is missing, and how that is built; then it ends."""
    from recollect.server.http import static_page

    monkeypatch.setattr(static_page, "is_built", lambda _: False)
    monkeypatch.setattr("recollect.cli.commands.demo.run_service", pytest.fail)
    arguments = ["demo", "--serve", "--keep", str(tmp_path / "demo.db")]
    result = CliRunner(env=ENVIRONMENT).invoke(main, arguments)

    assert 0 == result.exit_code, result.exception
    assert 1 == result.stderr.count("`make page`")
    assert "make page && recollect demo --serve" in result.stdout
    assert not re.search(r"https?://|in the browser", result.stdout)


@pytest.mark.parametrize(
    ("called", "found", "shown"),
    [
        (".venv/bin/recollect", None, ".venv/bin/recollect"),
        ("/my venv/bin/recollect", None, "'/my venv/bin/recollect'"),
        ("/venv/bin/recollect", "/venv/bin/recollect", "recollect"),
        ("/tools/pytest", None, "recollect"),
    ],
)
def test_commands_to_copy_begin_as_this_one_was_called(
    called: str, found: str | None, shown: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a clone, whose environment's programs are on no path, by their path."""
    monkeypatch.setattr("sys.argv", [called])
    monkeypatch.setattr("shutil.which", lambda _: found)

    assert shown == program_name()


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.text)
def test_each_question_is_answered_by_what_is_shown(question: DemoQuestion, tmp_path: Path) -> None:
    """One of the sources that answer it is among the entries shown."""
    found = anyio.run(_ask, tmp_path / "demo.db", question)

    assert {entry.source for entry in found.shown} & set(question.answers)


async def _ask(store: Path, question: DemoQuestion) -> Timed:
    clock = StoryClock()
    async with recollect.open(str(store), embedder="none", clock=clock) as memory:
        await play(memory, clock, read_chapters())
        return await ask(memory, question.text)


def test_the_demonstration_goes_back_in_time(printed: tuple[str, Path]) -> None:
    """To another city, and to the dates that were believed before the plan was done."""
    text, _ = printed

    assert re.search(r"20 March Mira lives in Utrecht\s+now Mira lives in Porto", text)
    assert re.search(r"12 March .* on 30 April 2025\s+20 March .* on 29 March 2025\n", text)


def test_no_plan_stands_whose_day_has_passed(printed: tuple[str, Path]) -> None:
    """Once Mira has moved, or the atlas is at the printer, nothing says that this is to come."""
    known = anyio.run(_in_force)

    assert "Mira lives in Porto, Rua das Amoreiras 18" in known
    assert [] == [each for each in known if re.search(r"plans to move|goes to the printer", each)]
    assert "plans to move" not in printed[0].split("2. Recall")[0]


async def _in_force() -> list[str]:
    clock = StoryClock()
    async with recollect.open("memory:", embedder="none", clock=clock) as memory:
        await play(memory, clock, read_chapters())
        found = (await memory.memories(SCOPE, limit=100)).rows
        now = clock.now()
        return [str(each.text) for each in found if not each.valid_until or each.valid_until > now]


def test_days_of_the_story_begin_and_end_in_utc() -> None:
    """As formation writes a day: else the page shows the day before it."""
    text = files("recollect.demo").joinpath("operations.jsonl").read_text("utf-8")
    days = re.findall(r'"(?:valid_from|valid_until|at)": "\d{4}-\d\d-\d\dT([^"]*)"', text)

    assert len(days) > 5
    assert {"00:00:00+00:00", "11:00:00+00:00", "23:59:59.999999+00:00"} == set(days)


def test_the_demonstration_forgets(printed: tuple[str, Path]) -> None:
    """The receipt, the answers and the bytes of the file agree."""
    text, store = printed

    assert "2 messages, and 1 memory that rested on them alone; their bytes are gone" in text
    assert "70315 is in 0 of all entries" in text
    assert re.search(r"70315 stood there [1-9]\d* times before, 0 after", text)
    assert 0 == count_in_files(store, "70315")


def test_each_formation_of_the_demonstration_says_what_it_did() -> None:
    """Its receipt counts what was stored, changed and ended, and names it, as of any formation."""
    receipts: list[dict[str, Any]] = anyio.run(_receipts)

    actions = [[outcome["action"] for outcome in each["outcomes"]] for each in receipts]
    done = {action for each in actions for action in each}
    assert {"stored", "changed", "ended", "quarantined"} == done
    assert sum(map(len, actions)) == sum(len(each.writes) for each in read_chapters())
    assert [Counter(each) for each in actions] == [each["counts"] for each in receipts]


def test_a_pasted_letter_waits_for_review(printed: tuple[str, Path]) -> None:
    """It would change what Mira said, which stands until a person approves the letter's words."""
    text, _ = printed
    before, waiting, after = anyio.run(_reviewed)

    assert "For review" in text
    assert "1,150" in before
    assert [after] == waiting
    assert "1,350" in after


async def _reviewed() -> tuple[str, list[str], str]:
    clock = StoryClock()
    async with recollect.open("memory:", embedder="none", clock=clock) as memory:
        await play(memory, clock, read_chapters())
        before = await memory.get(SCOPE, "Note", "books")
        waiting = (await memory.memories(SCOPE, state="quarantined")).rows
        after = await memory.approve(SCOPE, waiting[0].type, waiting[0].key)
        assert before is not None
        texts = [each.text for each in waiting]
        return str(before.value["note"]), texts, str(after.value["note"])


async def _receipts() -> list[dict[str, Any]]:
    clock = StoryClock()
    async with recollect.open("memory:", embedder="none", clock=clock) as memory:
        await play(memory, clock, read_chapters())
        return [dict(each.receipt) for each in (await memory.formations(SCOPE)).rows]


def test_the_demonstration_says_what_it_did_after_it_has_forgotten(
    printed: tuple[str, Path],
) -> None:
    """An erase takes what the receipts say of what is gone, and leaves how much was done."""
    _, store = printed

    shown = CliRunner(env={**ENVIRONMENT, "RECOLLECT_STORE": str(store)}).invoke(
        main, ["formation", "list", "--scope", "/".join(SCOPE), "--table"]
    )

    lines = [line for line in shown.stdout.splitlines() if "0 calls" in line]
    assert len(read_chapters()) == len(lines)
    for line in lines:
        assert re.search(r"\d+ (stored|changed|ended)", line)
    assert any(line.endswith("erased with the data") for line in lines)
    assert "nothing to remember" not in shown.stdout


def test_the_demonstration_takes_no_store_of_somebody_else(printed: tuple[str, Path]) -> None:
    """A file that exists is not touched."""
    _, store = printed

    result = CliRunner(env=ENVIRONMENT).invoke(main, ["demo", "--keep", str(store)])

    assert 2 == result.exit_code


def test_the_story_is_whole() -> None:
    """Three threads in two languages over some weeks, every message in its place."""
    messages = read_messages()

    ids = [row.message.id for row in messages]
    times = [row.message.time for row in messages if row.message.time]
    assert len(ids) == len(set(ids)) == len(times)
    assert {"kitchen", "moving", "work"} == {row.thread for row in messages}
    assert times == sorted(times)
    assert 10 <= sum(bool(re.search("[一-鿿]", row.message.text)) for row in messages) <= 40


def test_every_operation_rests_on_words_that_were_said_by_then() -> None:
    """Each quote stands in the message it cites, and none cites the future."""
    said: dict[tuple[str, str | None], str] = {}
    for chapter in read_chapters():
        said |= {(chapter.thread, message.id): message.text for message in chapter.messages}
        for write in chapter.writes:
            for evidence in write.evidence.values() if isinstance(write, PutMemory) else ():
                for each in evidence:
                    assert each.quote
                    assert each.quote in said[each.thread, each.message]


def test_every_operation_belongs_to_a_session() -> None:
    """None is left out because its session is misspelt."""
    path = ROOT / "src" / "recollect" / "demo" / "operations.jsonl"

    written = len(path.read_text("utf-8").splitlines())

    assert written == sum(len(chapter.writes) for chapter in read_chapters())


def test_the_story_is_formed_to_its_end(printed: tuple[str, Path]) -> None:
    """Nothing waits to be formed, and the watermarks stand at the last messages."""
    _, store = printed

    result = CliRunner(env={**ENVIRONMENT, "RECOLLECT_STORE": str(store)}).invoke(
        main, ["threads", "--scope", "/".join(SCOPE)]
    )

    threads = json.loads(result.stdout)["threads"]
    assert [each["last"] for each in threads] == [each["formed"] for each in threads]


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_each_example_runs(path: Path, tmp_path: Path) -> None:
    """From any folder, without arguments."""
    finished = subprocess.run(
        [sys.executable, str(path)],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        check=False,
    )

    assert (0, "") == (finished.returncode, finished.stderr)
    assert finished.stdout


def test_each_example_is_explained() -> None:
    """examples/README.md names every program, and no other."""
    text = ROOT.joinpath("examples", "README.md").read_text("utf-8")

    assert {path.name for path in EXAMPLES} == set(re.findall(r"\((\w+\.py)\)", text))


def shown_sessions() -> list[tuple[str, list[str]]]:
    """Return the commands of README.md's console, each with the lines shown below it."""
    text = ROOT.joinpath("README.md").read_text("utf-8")
    (console,) = re.findall(r"```console\n(.*?)```", text, re.DOTALL)
    found: list[tuple[str, list[str]]] = []
    for line in console.splitlines():
        if line.startswith("$ "):
            found.append((line[2:], []))
        else:
            found[-1][1].append(line)
    return found


def without_figures(text: str) -> str:
    """Return *text* with its score and spaces made alike: weights and widths may change."""
    return " ".join(re.sub(r"^(\d\.  )\d+\.\d\d", r"\1#", text).split())


def run_in(folder: Path, *arguments: str) -> str:
    """Run the command line in *folder*, on the demonstration's scope; return what it printed."""
    finished = subprocess.run(
        [sys.executable, "-m", "recollect.cli", *arguments],
        cwd=folder,
        env={
            **os.environ,
            "PYTHONPATH": str(ROOT / "src"),
            "COLUMNS": "100",
            "RECOLLECT_STORE": "demo.db",
            "RECOLLECT_SCOPE": "demo/mira",
        },
        capture_output=True,
        text=True,
        check=True,
    )
    return finished.stdout + finished.stderr


def test_the_readme_shows_what_is_printed(tmp_path: Path) -> None:
    """Each line shown is printed by the command above it; ``…`` stands for others."""
    run_in(tmp_path, "demo", "--keep", "demo.db")
    tmp_path.joinpath("chats.jsonl.gz").write_text('[{"role": "user", "content": "hi"}]', "utf-8")

    missing = []
    for line, shown in shown_sessions():
        if line.startswith("recollect "):
            words = [word.strip('"') for word in re.findall(r'"[^"]*"|\S+', line)][1:]
            printed = set(map(without_figures, run_in(tmp_path, *words, "--table").splitlines()))
            expected = [without_figures(each) for each in shown if each.strip() != "…"]
            missing += [each for each in expected if each not in printed]

    assert [] == missing


def test_a_benchmark_prints_its_figures_beside_controls(tmp_path: Path) -> None:
    """And writes the rows from which they follow."""
    rows = [
        {
            "conversation_id": "c",
            "session_id": "s",
            "message_id": f"m{number}",
            "seq": number,
            "timestamp": "2024-05-06T12:00:00",
            "speaker": "Ann",
            "role": "speaker_a",
            "text": text,
        }
        for number, text in enumerate(["The cat is called Tom", "The sun shines", "We had soup"])
    ]
    question = {
        "question_id": "q",
        "conversation_id": "c",
        "question": "What is the cat called?",
        "category": "single_hop",
        "evidence": ["m0"],
        "evidence_raw": ["m0"],
    }
    for name, held in (("conversations", rows), ("questions", [question])):
        content = "".join(json.dumps(each) + "\n" for each in held)
        tmp_path.joinpath(f"{name}.jsonl").write_text(content, "utf-8")
    written = tmp_path / "rows.jsonl"

    result = CliRunner(env=ENVIRONMENT).invoke(
        benchmarks, ["locomo", "--data", str(tmp_path), "--rows", str(written)]
    )

    assert 0 == result.exit_code, result.exception
    assert "recollect / bm25" in result.stdout
    assert {"recollect", "bm25"} == set(from_rows(read_rows(written)).systems)


def test_a_benchmark_without_its_set_says_what_is_missing(tmp_path: Path) -> None:
    """With status 2."""
    result = CliRunner(env=ENVIRONMENT).invoke(benchmarks, ["locomo", "--data", str(tmp_path)])

    assert 2 == result.exit_code
    assert "give --data the folder of locomo" in result.stderr
