"""The example of each conversation memory runs by itself, and shows what it says."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "examples" / "conversation"
PAGE, CHINESE = ROOT / "docs" / "choosing.md", ROOT / "docs" / "choosing.zh.md"
EXAMPLES = sorted(FOLDER.glob("*.py"))
TIMEOUT_S = 120
# Of each program the lines that matter, in their order.
SHOWN = {
    "beside_a_thread.py": [
        "{'cart': {'lamp': 1}, 'step': 'payment'}",
        "receipt.txt text/plain 11",
        "Lamp, 39.00",
        "{} ()",
    ],
    "buffer.py": [
        "Human: My kettle leaks.",
        "AI: You get a new one.",
        "4 messages, the first of them human",
        "the limit max_token_limit is 10",
    ],
    "changed_import.py": [
        "Who am I? -> You are Iris.",
        "Human: I prefer tea.",
        "AI: You are Iris.",
    ],
    "combined.py": [
        "Be brief and kind.",
        "Human: Since Sunday.",
        "input: Penicillin gives me a rash.",
        "the tool reads ['recent']; kept are 4",
    ],
    "entity.py": [
        "{'Ravi': '', 'Harbour': ''}",
        "{'Ravi': 'Ravi leads the project Harbour.'}",
        "calls: 4",
        "after the erase: []",
    ],
    "own_memory.py": [
        "{'pinned': 'Remember that I do not eat fish.', 'history': ''}",
        "{'pinned': ''}",
    ],
    "resume.py": [
        "another process finds 6 messages",
        "Human: Every day, over the leaves.",
        "Kai waters tomatoes over the leaves, and was told not to.",
        "Human: And the beans?",
        "AI: They may get water from above.",
    ],
    "summary.py": [
        "System: Pat runs 3 km twice a week",
        "Human: My left knee hurts a little.",
        "after 4 turns and 2 calls: Pat wants to run 10 km in June.",
        "it stands for 8 messages; the first: I want to run",
    ],
    "summary_buffer.py": [
        "System: 用户要给爷爷过八十岁生日，请二十人",
        "助手: 好，订一个少糖的水果蛋糕。",
        "4 轮对话，调用模型 2 次",
        "摘要代替了 4 条消息，原话都还在",
    ],
    "token_buffer.py": [
        "estimated:",
        "AI: Belem.",
        "counted in words:",
        "Human: Which first?",
    ],
    "vector_retriever.py": [
        "input: I liked The Sea of Glass.",
        "output: Then try its sequel, The Salt Road.",
        "said in january",
    ],
    "window.py": [
        "Human: It has risen.",
        "AI: Bake it at 230 degrees.",
        "shown: 4 messages; kept: 8",
    ],
}


def run_alone(path: Path, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run an example as a process of its own, in *folder*."""
    return subprocess.run(
        [sys.executable, str(path)],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src"), "PYTHONIOENCODING": "utf-8"},
        capture_output=True,
        encoding="utf-8",
        timeout=TIMEOUT_S,
        check=False,
    )


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_the_example_of_a_memory_shows_what_it_says(path: Path, tmp_path: Path) -> None:
    """As a process of its own, from any folder, without arguments, warnings or anything left."""
    finished = run_alone(path, tmp_path)

    assert (0, "") == (finished.returncode, finished.stderr)
    assert [] == missing(SHOWN[path.name], finished.stdout)
    assert [] == list(tmp_path.iterdir())


def test_an_assistant_around_any_chat_remembers(tmp_path: Path) -> None:
    """What was said on one day is known on another; `append`, `context` and the guide suffice."""
    path = ROOT / "examples" / "assistant.py"
    finished = run_alone(path, tmp_path)

    assert (0, "") == (finished.returncode, finished.stderr)
    assert [
        "monday: What is my boat called? -> You have not told me.",
        "monday: We named the boat Ida, at last. -> Good to know.",
        "tuesday: What is my boat called? -> She is called Ida.",
        "wednesday: Hello! -> Good to know.",
    ] == finished.stdout.splitlines()
    used = set(re.findall(r"\bmemory\.(\w+)\(", path.read_text("utf-8")))
    assert {"append", "context"} == used


def test_a_line_that_is_not_shown_is_reported() -> None:
    """Also one that stands in another place than it should."""
    assert [] == missing(["one", "two"], "one\nand two\n")
    assert ["one"] == missing(["two", "one"], "one\nand two\n")


def test_each_example_of_a_memory_is_explained() -> None:
    """examples/README.md links to every program there is, and to no other."""
    text = ROOT.joinpath("examples", "README.md").read_text("utf-8")

    assert {path.name for path in EXAMPLES} == set(re.findall(r"\(conversation/(\w+\.py)\)", text))


def test_the_memory_of_ones_own_is_the_one_of_the_page() -> None:
    """docs/choosing.md shows the class that the example plays."""
    program = FOLDER.joinpath("own_memory.py").read_text("utf-8")
    (made,) = re.findall(
        r"^class PinnedMemory.*?(?=^\S*[A-Z]+ = )", program, re.DOTALL | re.MULTILINE
    )

    assert made.strip() in PAGE.read_text("utf-8")


def test_the_page_says_the_same_in_both_languages() -> None:
    """As many headings, rows and points; the same programs and figures."""
    english, chinese = (path.read_text("utf-8") for path in (PAGE, CHINESE))

    for part in (r"^#+ ", r"^\|", r"^- "):
        assert count(part, english) == count(part, chinese)
    assert re.findall(r"```python.*?```", english, re.DOTALL) == re.findall(
        r"```python.*?```", chinese, re.DOTALL
    )
    assert figures(english) == figures(chinese)


def count(pattern: str, text: str) -> int:
    return len(re.findall(pattern, text, re.MULTILINE))


def figures(text: str) -> list[str]:
    """Return the figures in the tables of *text*, in order."""
    rows = re.findall(r"^\|.*$", text, re.MULTILINE)
    return [figure for row in rows for figure in re.findall(r"\d[\d.,]*", row)]


def missing(lines: list[str], text: str) -> list[str]:
    """Return those of *lines* that *text* does not hold after the ones before them."""
    found, start = [], 0
    for line in lines:
        place = text.find(line, start)
        if place < 0:
            found.append(line)
        else:
            start = place + len(line)
    return found
