"""A process that is killed while it saves turns leaves each of them whole, or not there."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

import recollect
from recollect.conversation import ConversationBufferMemory

ADA = ("users", "ada")
SAVES = """
import sys
import recollect
from recollect.conversation import ConversationBufferMemory

with recollect.open_sync(sys.argv[1], embedder="none", worker=False) as memory:
    talk = ConversationBufferMemory(memory, ("users", "ada"), "talk")
    first = len(talk.chat_memory.messages) // 2
    for number in range(first, first + 10_000):
        talk.save_context({"input": f"question {number}"}, {"output": f"answer {number}"})
        print(number, flush=True)
"""
# The mutant: the sides of a turn come one after the other, and the process ends between them.
HALVES = SAVES.replace(
    "talk.save_context({",
    "talk.chat_memory.add_user_message(f'question {number}')\n"
    "        import os; os._exit(9)\n"
    "        talk.save_context({",
)


def killed_after(program: str, path: Path, turns: int) -> list[str]:
    """Run *program* on a store, kill it once it has told *turns*, and return what it told."""
    command = [sys.executable, "-c", program, str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        told = [line for _, line in zip(range(turns), process.stdout, strict=False)]
        process.send_signal(signal.SIGKILL)
        told += process.stdout.readlines()
    return [line.strip() for line in told]


def kept(path: Path) -> list[str]:
    """Return the texts of the conversation, as the next process finds them."""
    with recollect.open_sync(str(path), embedder="none", worker=False) as memory:
        talk = ConversationBufferMemory(memory, ADA, "talk", return_messages=True)
        return [str(each.content) for each in talk.load_memory_variables({})["history"]]


def turns_of(texts: list[str]) -> list[str]:
    """Return the numbers of the turns that are whole; fail where one is not."""
    questions, answers = texts[::2], texts[1::2]
    numbers = [each.removeprefix("question ") for each in questions]
    assert answers == [f"answer {number}" for number in numbers]
    return numbers


@pytest.mark.parametrize("runs", [4, pytest.param(50, marks=pytest.mark.prove)])
def test_a_killed_process_leaves_whole_turns(tmp_path: Path, runs: int) -> None:
    """Whatever was told as saved is there, and two processes resume one thread in turn."""
    path, told = tmp_path / "m.db", list[str]()

    for run in range(runs):
        told += killed_after(SAVES, path, 1 + 3 * (run % 7))
        numbers = turns_of(kept(path))

        assert told == [each for each in numbers if each in set(told)]
        assert [str(number) for number in range(len(numbers))] == numbers


def test_half_a_turn_is_noticed(tmp_path: Path) -> None:
    """The check above sees a turn of which only the question was kept."""
    path = tmp_path / "m.db"
    killed_after(HALVES, path, 1)

    with pytest.raises(AssertionError):
        turns_of(kept(path))
