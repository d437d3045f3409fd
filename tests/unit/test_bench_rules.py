"""`python -m benchmarks rules`: what each rule stops is counted by kind of answer."""

import gzip
import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from benchmarks.commands.rules import rules_bench
from benchmarks.formation_corpus import CASES, read_corpus
from benchmarks.formation_rules import rule_of

CORPUS = Path(__file__).parents[1] / "corpus"
SHARE = 5


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (
            "/content: the number 42 is not in message 1, 3",
            "/age: the number 五 is not in message 2",
        ),
        (
            "m1: the cited words are not about it: cite",
            "m2: the cited words are not about it: cite",
        ),
        (
            "Ann says it of themselves, and the value of Bo",
            "老陈 says it of themselves, and the value of 阿凯",
        ),
    ],
)
def test_reasons_of_one_rule_are_equal_without_their_details(one: str, other: str) -> None:
    assert rule_of(one) == rule_of(other)


def write_sample(folder: Path) -> None:
    """Write every fifth case and answer of the corpus into *folder*."""
    numbers = {each["id"]: number for number, each in enumerate(read_corpus(CORPUS, CASES))}
    for path in CORPUS.glob("*.jsonl.gz"):
        rows = read_corpus(CORPUS, path.name.removesuffix(".jsonl.gz"))
        places = (numbers.get(each.get("case", ""), n) for n, each in enumerate(rows))
        # In pairs, since every second case is held out by its place.
        kept = [each for n, each in zip(places, rows, strict=True) if n // 2 % SHARE == 0]
        with gzip.open(folder / path.name, "wt", encoding="utf-8") as file:
            file.writelines(f"{json.dumps(each, ensure_ascii=False)}\n" for each in kept)


def check_counts(data: Path, report_file: Path) -> None:
    """Count the answers in *data*: the checks stop wrong ones, and next to no right one."""
    told = CliRunner().invoke(rules_bench, ["--data", str(data), "--json", str(report_file)])

    assert 0 == told.exit_code, told.output
    report = json.loads(report_file.read_text("utf-8"))
    assert {"right", "wrong", "attack"} == report["answers"].keys()
    numbers = next(each for each in report["rules"] if each["rule"].startswith("the number"))
    assert numbers["stopped"]["wrong"] > 3 * numbers["stopped"].get("right", 0)
    assert report["passed"]["right"] >= 0.98 * report["answers"]["right"]


def test_the_command_counts_what_each_rule_stops(tmp_path: Path) -> None:
    """On a fifth of the corpus, whose answers other tests play in full."""
    write_sample(tmp_path)

    check_counts(tmp_path, tmp_path / "report.json")


@pytest.mark.prove
def test_the_command_counts_what_each_rule_stops_of_all(tmp_path: Path) -> None:
    """The same, at full count."""
    check_counts(CORPUS, tmp_path / "report.json")
