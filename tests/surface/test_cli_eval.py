"""`recollect eval`: cases are run, recorded, replayed and compared, and made from what happened."""

import json
from pathlib import Path

import anyio
import pytest
from click.testing import CliRunner, Result

import recollect
from recollect.cli import main
from recollect.evaluation import load_cases
from recollect.formation.rule_model import RuleModel

ADA = ("users", "ada")
CASES = """
[[case]]
name = "where she lives"
tags = ["home"]

[[case.talks]]
messages = ["I live in Oslo."]

[[case.must]]
type = "User"
path = "/home"
equals = "Oslo"
message = 1
quote = "I live in Oslo"

[[case]]
name = "what \\u001b[31mshe paints"

[[case.talks]]
messages = ["Painting birds is what I do at night."]

[[case.must]]
type = "User"
path = "/interests"
contains = "paint"
value = "painting birds"
message = 1
quote = "Painting birds is what I do at night"
"""


@pytest.fixture
def cases(tmp_path: Path) -> str:
    """Write a case that rules meet, and one that they do not."""
    file = tmp_path / "cases.toml"
    file.write_text(CASES, "utf-8")
    return str(file)


def invoke(*arguments: str, **environment: str) -> Result:
    """Run the program with *arguments*."""
    result = CliRunner(env={"RECOLLECT_MODEL": None, **environment}).invoke(main, list(arguments))
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


def test_cases_are_measured_beside_their_controls(cases: str) -> None:
    """Every figure stands beside the oracle's and that of a model that remembers nothing."""
    result = invoke("eval", cases, "--model", "rules")

    assert 0 == result.exit_code
    (recall,) = [line for line in result.output.splitlines() if line.startswith("recall of musts")]
    assert "recall of musts 50.0 % 100.0 % 0.0 %" == " ".join(recall.split())
    assert "must User /interests ~ 'paint' after talk 1: there is nothing" in result.output


def test_nothing_in_a_case_acts_on_the_terminal(cases: str) -> None:
    result = invoke("eval", cases, "--model", "rules")

    assert "\x1b" not in result.output


def test_strict_tells_by_the_exit_status(cases: str) -> None:
    assert 1 == invoke("eval", cases, "--model", "rules", "--strict").exit_code
    assert 0 == invoke("eval", cases, "--model", "oracle", "--strict").exit_code
    assert 0 == invoke("eval", cases, "--model", "rules", "--strict", "--tag", "home").exit_code


def test_the_shipped_cases_are_the_default() -> None:
    result = invoke("eval", "--model", "oracle", "--tag", "zh", "--strict")

    assert 0 == result.exit_code
    assert "中文：姓名、年龄和住处" in result.output


def test_the_model_can_be_named_by_the_environment(cases: str) -> None:
    assert 0 == invoke("eval", cases, "--strict", RECOLLECT_MODEL="oracle").exit_code


def test_a_run_is_recorded_and_replayed(cases: str, tmp_path: Path) -> None:
    """The replay asks no model, and gives the same report."""
    recorded, first, second = (str(tmp_path / name) for name in ("r.jsonl", "1.json", "2.json"))

    invoke("eval", cases, "--model", "rules", "--record", recorded, "--json", first)
    result = invoke("eval", cases, "--replay", recorded, "--json", second)

    assert 0 == result.exit_code
    reports = [json.loads(Path(each).read_text("utf-8")) for each in (first, second)]
    assert reports[0] == reports[1]


def test_a_recording_is_not_mixed_with_another(cases: str, tmp_path: Path) -> None:
    there = tmp_path / "r.jsonl"
    there.write_text("", "utf-8")

    result = invoke("eval", cases, "--model", "rules", "--record", str(there))

    assert 2 == result.exit_code
    assert "exists" in result.output


def test_prompts_of_ones_own_reach_the_model(cases: str, tmp_path: Path) -> None:
    """A recording of other prompts does not answer: it was asked something else."""
    config, recorded = tmp_path / "mine.toml", str(tmp_path / "r.jsonl")
    config.write_text('[prompts]\nextraction = "Remember well, or call {nothing}."\n', "utf-8")
    invoke("eval", cases, "--model", "rules", "--record", recorded)

    result = invoke("eval", cases, "--replay", recorded, "--config", str(config), "--strict")

    assert 1 == result.exit_code
    assert "system differs" in result.output


def test_two_runs_are_compared(cases: str, tmp_path: Path) -> None:
    """What got better is told case by case."""
    then = str(tmp_path / "then.json")
    invoke("eval", cases, "--model", "rules", "--json", then)

    result = invoke("eval", cases, "--model", "oracle", "--against", then)

    better = result.output.split("better:")[1]
    assert "must User /interests ~ 'paint' after talk 1" in better
    assert "must User /home" not in better


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("eval",), "which model?"),
        (("eval", "none.toml", "--model", "oracle"), "there is no file"),
        (("eval", "--model", "oracle", "--tag", "nowhere"), "no case has one of the tags"),
        (("eval", "--record", "a", "--replay", "r.jsonl"), "--replay asks no model"),
        (("eval", "--replay", "none.jsonl"), "there is no recording"),
        (("eval", "--model", "oracle", "--against", "none.json"), "there is no report"),
        (("eval", "--model", "gpt"), "names no provider"),
        (("eval", "add", "mine.toml"), "name one of them"),
    ],
)
def test_what_is_wrong_is_told_in_a_sentence(
    arguments: tuple[str, ...], told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    result = invoke(*arguments)

    assert told in result.output
    assert 0 != result.exit_code
    assert "Traceback" not in result.output


def test_langsmith_without_a_key_is_told(cases: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("LANGSMITH_API_KEY", "LANGCHAIN_API_KEY"):
        monkeypatch.delenv(name, raising=False)

    result = invoke("eval", cases, "--model", "oracle", "--langsmith", "mine")

    assert 2 == result.exit_code
    assert "LANGSMITH_API_KEY" in result.output


def test_help_shows_the_run_and_its_options() -> None:
    assert "add" in invoke("eval", "--help").output
    assert "--against" in invoke("eval", "run", "--help").output


def filled(store: str) -> str:
    """Fill a store with a talk that was formed, and return the formation's id."""

    async def fill() -> str:
        async with recollect.open(
            store, embedder="none", model=RuleModel(), worker=False
        ) as memory:
            message = recollect.NewMessage(role="user", text="I live in Oslo.")
            await memory.append(ADA, "talk", [message])
            await memory.signal(ADA, "talk")
            assert memory.worker is not None
            await memory.worker.drain(ADA)
            return (await memory.formations(ADA)).rows[0].id

    return anyio.run(fill)


def test_a_formation_and_a_memory_become_cases(tmp_path: Path) -> None:
    """Both go to one file, which runs."""
    store, file = str(tmp_path / "store.db"), str(tmp_path / "mine.toml")
    formation = filled(store)
    environment = {"RECOLLECT_STORE": store, "RECOLLECT_SCOPE": "users/ada"}

    first = invoke("eval", "add", file, "--formation", formation, "--name", "one", **environment)
    second = invoke("eval", "add", file, "--memory", "User/User", **environment)

    assert (0, 0) == (first.exit_code, second.exit_code)
    assert {"file": file, "case": "one"} == json.loads(first.output)
    assert ["one", "memory User/User"] == [case.name for case in load_cases(file)]
    assert 0 == invoke("eval", file, "--model", "oracle", "--strict").exit_code
