"""`recollect chat` as it is used: typed or piped in, killed at any moment, interrupted."""

import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

import recollect
from recollect.errors import EXIT_STATUS

SOURCE = Path(recollect.__file__).parents[1]
FORMED_S_MAX = 20.0
TALK_S_MAX = 60.0
COMMAND = (sys.executable, "-m", "recollect.cli")
KEPT = "Kept. My few rules make no memory of it; ask me, and I find it again."
SMALL_TALK = "I am here. Tell me something, or ask what I remember."
FAST = ("--model", "rules", "--after-seconds", "0.2")


def environment() -> dict[str, str]:
    """Return this process's environment, with this tree's package and none of our variables."""
    ours = {name: value for name, value in os.environ.items() if not name.startswith("RECOLLECT_")}
    paths = [str(SOURCE), *filter(None, [os.environ.get("PYTHONPATH")])]
    wide = {"RECOLLECT_EMBEDDER": "none", "RECOLLECT_STORE": "talk.db", "COLUMNS": "200"}
    return {**ours, "PYTHONPATH": os.pathsep.join(paths), **wide}


def chat(
    *options: str, lines: Sequence[str] = (), folder: Path
) -> subprocess.CompletedProcess[str]:
    """Pipe *lines* into a chat."""
    return subprocess.run(
        [*COMMAND, "chat", *options],
        cwd=folder,
        env=environment(),
        input="".join(f"{line}\n" for line in lines),
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def shown(*arguments: str, folder: Path) -> dict[str, object]:
    """Return what a command prints as JSON."""
    printed = subprocess.run(
        [*COMMAND, *arguments, "--json"],
        cwd=folder,
        env=environment(),
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    found = json.loads(printed)
    assert isinstance(found, dict)
    return found


class Talking:
    """A chat that goes on, as a process of its own; both of its streams as one."""

    def __init__(self, folder: Path, *options: str) -> None:
        self.process = subprocess.Popen(
            [*COMMAND, "chat", *options],
            cwd=folder,
            env=environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        # A chat that says nothing more is ended, and so is the wait for it.
        self._watch = threading.Timer(TALK_S_MAX, self.process.kill)
        self._watch.start()

    def say(self, *lines: str) -> None:
        """Type *lines*."""
        assert self.process.stdin
        for line in lines:
            self.process.stdin.write(f"{line}\n")
        self.process.stdin.flush()

    def until(self, pattern: str) -> list[str]:
        """Read on until a line matches; return what was read."""
        assert self.process.stdout
        read = []
        for line in self.process.stdout:
            read.append(line.rstrip())
            if re.search(pattern, read[-1]):
                return read
        pytest.fail(f"the chat ended before {pattern!r}: {read}")

    def until_formed(self) -> None:
        """Ask until nothing waits any more, as somebody would who wants to know."""
        for _ in range(int(FORMED_S_MAX * 10)):
            self.say("/pending")
            (*_, last) = self.until(r"^thread +waiting|nothing waits")
            if "nothing waits" in last:
                return
            self.until(r" in .* s$| now$")
            time.sleep(0.1)
        pytest.fail("nothing was formed")

    def kill(self) -> None:
        """End it at once, as a power switch would."""
        self.process.send_signal(signal.SIGKILL)
        assert -signal.SIGKILL == self.process.wait(10)

    def end(self) -> None:
        """Leave nothing of it behind."""
        self._watch.cancel()
        if self.process.poll() is None:
            self.kill()
        assert self.process.stdin
        assert self.process.stdout
        with suppress(BrokenPipeError):
            self.process.stdin.close()
        self.process.stdout.close()


@pytest.fixture
def talking() -> Iterator[list[Talking]]:
    """Keep the chats that a test starts, and end those that it leaves."""
    started: list[Talking] = []
    yield started
    for each in started:
        each.end()


def quotes(version: Mapping[str, object], pointer: str) -> list[str]:
    """Return the quotes on which a version's field rests."""
    evidence = version["evidence"]
    assert isinstance(evidence, dict)
    return [each["quote"] for each in evidence[pointer]]


def test_a_talk_is_remembered_used_and_corrected_through_kills(
    tmp_path: Path, talking: list[Talking]
) -> None:
    """A profile and a note form in the pause; another talk uses them; corrections replace."""
    one = Talking(tmp_path, *FAST, "--thread", "one")
    talking.append(one)
    one.say("My name is Ada. I live in Bergen.", "My dog hates rain.")
    one.until("kept 4")
    one.until_formed()
    one.kill()

    two = Talking(tmp_path, *FAST, "--thread", "two")
    talking.append(two)
    two.say("What does my dog hate?", "/why", "/memories")
    two.until("kept 2")
    why = "\n".join(two.until("[0-9] memories"))
    two.say("I moved to Porto.")
    two.until("kept 4")
    two.until_formed()
    two.say('/edit User User /home "Lisboa"')
    two.until("corrected User/User, version 3")
    two.kill()

    found = shown("memories", "User/User", folder=tmp_path)
    versions = found["versions"]
    assert isinstance(versions, list)
    assert ["Bergen", "Porto", "Lisboa"] == [each["value"]["home"] for each in versions]
    assert ["I live in Bergen", "I moved to Porto", '/edit User User /home "Lisboa"'] == [
        quote for each in versions for quote in quotes(each, "/home")
    ]
    assert "user_name: Ada; home: Bergen" in why
    assert "“My dog hates rain” user, " in why


RECORDED_MODEL = """
import json
from pathlib import Path

from recollect.formation.rule_requests import shown_in
from recollect.ports import ToolCall
from recollect.testing import ScriptedModel

PARTS = json.loads(Path("parts.json").read_text("utf-8"))


def answer(request):
    if not request.tools:
        return "好的。"
    shown = shown_in(request)
    said = " ".join(words for _, _, words in shown.new)
    (part,) = [each for each in PARTS if each["said"][0][1] in said]
    written = json.dumps(part["answer"], ensure_ascii=False)
    for place in part["places"]:
        if place.startswith("id "):
            (at,) = [i for i, of, value in shown.known if place[3:] in f"{of} {value}"]
        else:
            pointer, _, quote = place.rpartition("|")
            (number,) = [n for n, _, words in shown.new if quote in words]
            at = f"{number} {pointer}: {quote}" if pointer else f"{number}: {quote}"
        written = written.replace(f"<{place}>", at)
    return [ToolCall(**each) for each in json.loads(written)]


model = ScriptedModel(answer)
"""


def as_typed(part: Mapping[str, Any]) -> dict[str, Any]:
    """Return a part of a recorded talk whose citations name words alone: numbers differ here."""
    written = json.dumps(part["answer"], ensure_ascii=False)
    written = re.sub(r'"\d+ (/\w+): ([^"]+)"', r'"<\1|\2>"', written)
    written = re.sub(r'"\d+: ([^"]+)"', r'"<\1>"', written)
    places = re.findall(r"<([^>]+)>", written)
    return {"said": part["said"], "answer": json.loads(written), "places": places}


def test_three_corrections_that_are_typed_leave_nothing_stale(tmp_path: Path) -> None:
    """In traditional Chinese, with the recorded answers of a model: one profile, no old note."""
    corpus = Path(__file__).parents[1].joinpath("corpus/corrected_talks.json")
    (talk,) = [
        each for each in json.loads(corpus.read_text("utf-8")) if each["language"] == "zh-hant"
    ]
    parts = [as_typed(each) for each in talk["parts"]]
    tmp_path.joinpath("parts.json").write_text(json.dumps(parts), "utf-8")
    tmp_path.joinpath("recorded_model.py").write_text(RECORDED_MODEL, "utf-8")
    lines = [line for part in parts for line in (*(said for _, said in part["said"]), "/form")]

    finished = chat(
        "--model", "recorded_model:model", "--after-seconds", "60", lines=lines, folder=tmp_path
    )

    assert 0 == finished.returncode, finished.stderr
    assert "still to be formed" not in finished.stderr
    found = shown("memories", folder=tmp_path)["memories"]
    assert isinstance(found, list)
    in_force = [each for each in found if each["valid_until"] is None]
    (profile,) = [each["value"] for each in in_force if each["type"] == "User"]
    assert talk["profiles"]["User"]["value"] == profile
    assert list(talk["notes"]) == [
        each["value"]["content"] for each in in_force if each["type"] == "Note"
    ]
    versions = shown("memories", "User/User", folder=tmp_path)["versions"]
    assert isinstance(versions, list)
    quoted = {path: quotes(versions[-1], path) for path in talk["profiles"]["User"]["quotes"]}
    assert {p: [q] for p, q in talk["profiles"]["User"]["quotes"].items()} == quoted


@pytest.mark.parametrize("kept", [1, 2, 5, 8])
def test_what_is_said_to_be_kept_survives_a_kill(
    tmp_path: Path, talking: list[Talking], kept: int
) -> None:
    """A kill at any moment takes nothing that was acknowledged."""
    talk = Talking(tmp_path, *FAST, "--thread", "talk")
    talking.append(talk)
    talk.say(*(f"I like colour {number}" for number in range(8)))
    talk.until(f"kept {kept}$")

    talk.kill()

    messages = shown("threads", "talk", folder=tmp_path)["messages"]
    assert isinstance(messages, list)
    assert len(messages) >= kept
    for place, each in enumerate(messages):
        said = f"I like colour {place // 2}"
        text = str(each["text"])
        assert text == said if place % 2 == 0 else "what you like" in text


def test_answers_alone_go_to_standard_output(tmp_path: Path) -> None:
    """All else goes to the other stream, and nothing is coloured."""
    finished = chat("--model", "rules", lines=["Hello", "", "Hi", "/quit", "no"], folder=tmp_path)

    assert f"{SMALL_TALK}\n{SMALL_TALK}\n" == finished.stdout
    assert ["kept 1", "kept 2", "kept 3", "kept 4"] == finished.stderr.splitlines()[1:5]
    assert "4 messages still to be formed" in finished.stderr
    assert "\x1b" not in finished.stdout + finished.stderr
    assert 0 == finished.returncode


def test_a_talk_in_an_empty_scope_says_where_something_is(tmp_path: Path) -> None:
    """Once, at its start; a store that holds nothing yet is no reason to say so."""
    begun = chat("--model", "rules", "--scope", "demo/mira", lines=["Hello"], folder=tmp_path)
    above = chat("--model", "rules", "--scope", "demo", lines=["/quit"], folder=tmp_path)
    again = chat("--model", "rules", "--scope", "demo/mira", lines=["/quit"], folder=tmp_path)

    told = "the scope 'demo' holds nothing itself; there is something in demo/mira: name it"
    assert told in above.stderr
    assert "holds nothing" not in begun.stderr + again.stderr


def test_without_a_model_it_says_so_and_keeps_and_recalls(tmp_path: Path) -> None:
    """Nobody answers, and what bears on the words is shown."""
    lines = ["The key is under the mat.", "/new", "Where is the key?", "/form"]

    finished = chat("--user", "ada", lines=lines, folder=tmp_path)

    assert "no model: nothing is answered" in finished.stderr
    assert "The key is under the mat." in finished.stdout
    assert "no model is configured" in finished.stderr
    assert EXIT_STATUS["usage"] == finished.returncode
    threads = shown("threads", "--scope", "ada", folder=tmp_path)["threads"]
    assert isinstance(threads, list)
    assert [1, 1] == [each["count"] for each in threads]


def test_memories_can_be_rejected_approved_and_forgotten(tmp_path: Path) -> None:
    """Each with a word; forgetting asks, and no is no."""
    lines = [
        "I live in Bergen. I like chess.",
        "/form",
        "/reject User User /home",
        "I live in Bergen.",
        "/form",
        "/memories",
        "/forget User User",
        "n",
        "/forget User User",
        "y",
        "/memories User User",
        "/forget everything",
        "yes",
    ]

    finished = chat("--model", "rules", lines=lines, folder=tmp_path)

    assert "refused User/User: this value was rejected for /home" in finished.stdout
    assert "refused, and not formed again" in finished.stderr
    assert "User/User would lose 0 messages and 2 memories. Erase?" in finished.stderr
    assert 1 == finished.stderr.count("nothing was erased")
    assert "erased 0 messages and 2 memories" in finished.stdout
    assert "User User: there is no such memory" in finished.stderr
    assert [] == shown("threads", folder=tmp_path)["threads"]


def test_what_waits_is_told_with_what_was_said_since(tmp_path: Path) -> None:
    """It can be approved all the same."""
    old = {"subject": "Mira", "predicate": "lives in", "object": "Oslo"}
    with recollect.open_sync(str(tmp_path / "talk.db"), embedder="none") as memory:
        waiting = recollect.PutMemory(type="Fact", key="old", value=old, state="quarantined")
        memory.apply("ada", [waiting])
        memory.put("ada", "Fact", "new", {**old, "object": "Rome"})
    lines = ["/memories", "/approve Fact old"]

    finished = chat("--model", "rules", "--scope", "ada", lines=lines, folder=tmp_path)

    since = finished.stdout.partition("Oslo")[2]
    assert re.search(r"said since, [\d-]+ [\d:]+: “Mira lives in Rome” Fact/new", since)
    assert 1 == finished.stdout.count("said since")
    assert "approved Fact/old" in finished.stderr


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("/nothing", "there is no command '/nothing'"),
        ("/edit User User", "write /edit TYPE KEY POINTER JSON"),
        ("/edit User User /home Oslo", "there is no such memory"),
        ("/approve User", "write /approve TYPE KEY"),
        ("/recall", "the query is empty"),
        ("/forget", "write /forget"),
        ("a\0b", "NUL"),
    ],
)
def test_a_line_that_cannot_be_done_is_told_and_the_talk_goes_on(
    tmp_path: Path, line: str, told: str
) -> None:
    """A piped talk ends with the status of its first error."""
    finished = chat("--model", "rules", lines=[line, "Hello"], folder=tmp_path)

    assert told.lower() in finished.stderr.lower()
    assert SMALL_TALK in finished.stdout
    assert 0 < finished.returncode < 5
    assert "Traceback" not in finished.stderr


def test_two_slashes_say_a_line_that_begins_with_one(tmp_path: Path) -> None:
    """It is kept with one."""
    finished = chat(
        "--model", "rules", "--thread", "t", lines=["//quit is a word"], folder=tmp_path
    )

    messages = shown("threads", "t", folder=tmp_path)["messages"]
    assert isinstance(messages, list)
    assert "/quit is a word" == messages[0]["text"]
    assert f"{KEPT}\n" == finished.stdout


def test_an_answer_acts_on_no_terminal_and_is_kept_as_it_came(tmp_path: Path) -> None:
    """What is shown is freed of control characters; its lines stay."""
    answers = ["\x1b[2J\x07red\nalert"]
    tmp_path.joinpath("script.json").write_text(json.dumps({"answers": answers}), "utf-8")

    finished = chat("--model", "script.json", "--thread", "talk", lines=["Hi"], folder=tmp_path)

    assert "\ufffd[2J\ufffdred\nalert\n" == finished.stdout
    messages = shown("threads", "talk", folder=tmp_path)["messages"]
    assert isinstance(messages, list)
    assert answers[0] == messages[1]["text"]


def test_a_script_answers_and_forms_in_its_order(tmp_path: Path) -> None:
    """And says when it is used up."""
    because = [{"message": 1, "quote": "I live in Bergen", "path": "/home"}]
    call = {"name": "User", "arguments": {"value": {"home": "Bergen"}, "because": because}}
    script = {"answers": ["Noted."], "formations": [[call]]}
    tmp_path.joinpath("script.json").write_text(json.dumps(script), "utf-8")
    lines = ["I live in Bergen", "/form", "And now?"]

    finished = chat("--model", "script.json", lines=lines, folder=tmp_path)

    assert "formed: 1 stored" in finished.stdout
    assert "script.json: answers: is used up" in finished.stderr
    assert EXIT_STATUS["model"] == finished.returncode


def test_an_interrupt_stops_the_answer_and_not_the_talk(
    tmp_path: Path, talking: list[Talking]
) -> None:
    """What was streamed by then is kept as a part."""
    long = " ".join(f"word{number}" for number in range(60_000))
    tmp_path.joinpath("script.json").write_text(json.dumps({"answers": [long, "Fine."]}), "utf-8")
    talk = Talking(tmp_path, "--model", "script.json", "--thread", "talk")
    talking.append(talk)
    assert talk.process.stdout
    talk.say("Count.")
    talk.until("kept 1$")
    talk.process.stdout.read(1_000)

    talk.process.send_signal(signal.SIGINT)
    talk.until("kept 2$")
    talk.say("Enough.")
    talk.until("kept 4$")

    messages = shown("threads", "talk", folder=tmp_path)["messages"]
    assert isinstance(messages, list)
    assert ["user", "assistant", "user", "assistant"] == [each["role"] for each in messages]
    assert long.startswith(messages[1]["text"])
    assert 1_000 <= len(messages[1]["text"]) < len(long)
    assert messages[1]["metadata"]["interrupted"] is True
    assert "Fine." == messages[3]["text"]


CTRL_C = b"\x03"


@pytest.mark.parametrize("end", [b"\x04", CTRL_C, b"/quit\r"])
def test_at_a_terminal_it_prompts_and_ends_when_told(tmp_path: Path, end: bytes) -> None:
    """Ctrl-D, Ctrl-C and /quit end the talk without an error."""
    terminal, inner = pty.openpty()
    process = subprocess.Popen(
        [*COMMAND, "chat", "--model", "rules", "--thread", "talk"],
        cwd=tmp_path,
        env={**environment(), "TERM": "xterm-256color"},
        stdin=inner,
        stdout=inner,
        stderr=inner,
        start_new_session=True,
        preexec_fn=take_terminal,  # noqa: PLW1509 (it is one call of the system)
    )
    os.close(inner)
    screen = Screen(terminal)
    screen.until(b"> ")

    os.write(terminal, b"I live in Bergen.\r")
    screen.until(b"kept 2")
    screen.until(b"> ")
    status = ended_by(process, terminal, end)
    os.close(terminal)

    assert 0 == status
    assert b"where you live" in screen.printed
    assert b"\x1b[2m" in screen.printed


def ended_by(process: subprocess.Popen[bytes], terminal: int, end: bytes) -> int:
    """
    Type *end* until the process has ended; return its status.

    A key that arrives between the prompt and the wait for keys may be heard with the next. The
    next comes late: a second Ctrl-C, while the talk is being closed, stops the closing.
    """
    try:
        for _ in range(10):
            os.write(terminal, end)
            with suppress(subprocess.TimeoutExpired):
                return process.wait(20 if end == CTRL_C else 3)
        pytest.fail(f"{end!r} did not end the talk")
    finally:
        process.kill()
        process.wait()


def take_terminal() -> None:
    """Make the terminal on standard input the one whose keys send signals."""
    import fcntl
    import termios

    # A shell that runs the tests in the background has them ignore it, and what they start.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


class Screen:
    """What a terminal has printed, read on from where the last look ended."""

    def __init__(self, terminal: int) -> None:
        self._terminal = terminal
        self._seen = 0
        self.printed = b""

    def until(self, wanted: bytes) -> None:
        """Read until *wanted* stands after what was looked at before."""
        ends = time.monotonic() + 60
        while (found := self.printed.find(wanted, self._seen)) < 0:
            ready, _, _ = select.select([self._terminal], [], [], max(0, ends - time.monotonic()))
            assert ready, f"{wanted!r} did not come after {self.printed[self._seen :]!r}"
            self.printed += os.read(self._terminal, 1_000)
        self._seen = found + len(wanted)


def test_three_corrections_typed_in_traditional_chinese_leave_nothing_stale(
    tmp_path: Path,
) -> None:
    """The recorded talk: one profile, one note, each with the words that it rests on."""
    corpus = Path(__file__).parents[1] / "corpus" / "corrected_talks.json"
    talk = json.loads(corpus.read_text("utf-8"))[0]
    # Each line is answered, so that every second message is the user's.
    numbers = {f"{n}{end}": f"{2 * n - 1}{end}" for n in (1, 2, 3) for end in (" /", ": ")}
    lines, formations = [], []
    for part in talk["parts"]:
        lines += [*(text for _, text in part["said"]), "/form"]
        formations.append(json.dumps(part["answer"], ensure_ascii=False))
    for old, new in reversed(numbers.items()):
        formations[0] = formations[0].replace(f'"{old}', f'"{new}')
    for words, id_ in (("User", "m1"), ("麻糬", "m2"), ("日本", "m3")):
        formations[1] = formations[1].replace(f"<id {words}>", id_)
    for number, (_, said) in zip((5, 7, 9), talk["parts"][1]["said"], strict=True):
        for words in re.findall("<([^>]+)>", formations[1]):
            if words in said:
                formations[1] = formations[1].replace(f"<{words}>", f"{number}: {words}")
    script = {"answers": ["好的。"] * 6, "formations": [json.loads(each) for each in formations]}
    tmp_path.joinpath("script.json").write_text(json.dumps(script), "utf-8")

    finished = chat("--model", "script.json", lines=[*lines, "/memories"], folder=tmp_path)

    assert 0 == finished.returncode, finished.stderr
    told = finished.stdout.rpartition("formed: ")[2]
    for words in ("我上週搬到高雄了", "麻糬其實四歲了"):
        assert f"“{words}” user" in told
    rows = shown("memories", folder=tmp_path)["memories"]
    assert isinstance(rows, list)
    in_force = [each for each in rows if each["valid_until"] is None]
    assert [("Note", talk["notes"]), ("User", talk["profiles"]["User"]["value"])] == [
        (each["type"], {each["value"]["content"]: each["evidence"]["/content"][0]["quote"]})
        if each["type"] == "Note"
        else (each["type"], each["value"])
        for each in in_force
    ]
    assert 3 == len(rows)
