"""`python -m benchmarks rules`: what each rule stops is counted by kind of answer."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from benchmarks.commands.rules import rules_bench
from benchmarks.formation_rules import rule_of

CORPUS = Path(__file__).parents[1] / "corpus"


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


def test_the_command_counts_what_each_rule_stops(tmp_path: Path) -> None:
    told = CliRunner().invoke(
        rules_bench, ["--data", str(CORPUS), "--json", str(tmp_path / "report.json")]
    )

    assert 0 == told.exit_code, told.output
    report = json.loads((tmp_path / "report.json").read_text("utf-8"))
    assert {"right", "wrong", "attack"} == report["answers"].keys()
    numbers = next(each for each in report["rules"] if each["rule"].startswith("the number"))
    assert numbers["stopped"]["wrong"] > 3 * numbers["stopped"].get("right", 0)
    assert report["passed"]["right"] >= 0.98 * report["answers"]["right"]
