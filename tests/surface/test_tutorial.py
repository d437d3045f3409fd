"""The tutorial, from an empty environment to its end: each step does and prints what it says."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import httpx
import pytest

from tests.structure.test_docs import program_of
from tests.surface.test_cli_serve import line_with

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "docs" / name for name in ("tutorial.md", "tutorial.zh.md")]
DATE = re.compile(r"\d{1,2} [A-Z]\w+ \d{4}|\d{4}年\d{1,2}月\d{1,2}日")
WHOLE_S_MAX = 30 * 60
"""A reader has so long; a program needs a small part of it."""


def blocks(page: Path, language: str) -> list[str]:
    """Return the blocks of a page in *language*, in order."""
    found = re.findall(
        rf"^```{language}\n(.*?)^```$", page.read_text("utf-8"), re.MULTILINE | re.DOTALL
    )
    return [str(each) for each in found]


def undated(text: str) -> str:
    """Return *text* with every date as the same word: a tutorial is read on any day."""
    return DATE.sub("DATE", text)


def run(program: str | Path, folder: Path, *arguments: str, **variables: str) -> str:
    """Run a program in a folder of its own, and return what it printed."""
    finished = subprocess.run(
        [program, *arguments],
        cwd=folder,
        env={**clean_environment(), **variables},
        capture_output=True,
        encoding="utf-8",
        timeout=600,
        check=False,
    )
    assert finished.returncode == 0, finished.stdout + finished.stderr
    return finished.stdout


def clean_environment() -> Mapping[str, str]:
    """Return the environment of somebody who has configured nothing."""
    ours = ("RECOLLECT_", "PYTHON", "VIRTUAL_ENV", "DISPLAY", "WAYLAND_DISPLAY")
    kept = {name: each for name, each in os.environ.items() if not name.startswith(ours)}
    return {**kept, "PYTHONIOENCODING": "utf-8"}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_each_step_prints_what_the_page_shows(page: Path, tmp_path: Path) -> None:
    """All Python blocks as one program; what it prints is the page's output, block after block."""
    program = tmp_path / "tutorial.py"
    program.write_text(program_of(page.read_text("utf-8")), "utf-8")

    printed = run(sys.executable, tmp_path, str(program), PYTHONPATH=str(ROOT / "src"))

    assert undated(printed) == undated("".join(blocks(page, "text")))


def test_both_languages_take_the_same_steps() -> None:
    """As many headings, programs, outputs and commands; the commands are the same but for names."""
    english, chinese = (
        [len(re.findall(r"^#+ ", page.read_text("utf-8"), re.MULTILINE))]
        + [len(blocks(page, language)) for language in ("python", "text", "sh")]
        for page in PAGES
    )

    assert english == chinese
    assert blocks(PAGES[0], "sh")[0] == blocks(PAGES[1], "sh")[0]


@pytest.mark.slow
def test_the_tutorial_is_walked_from_nothing(tmp_path: Path) -> None:
    """In an empty environment: its commands install, its program runs, its page is served."""
    started = time.monotonic()
    install, serve, real = blocks(PAGES[0], "sh")
    environment = tmp_path / ".venv"
    # Our own pip installs into it, so that this works where Python comes without ensurepip.
    run(sys.executable, tmp_path, "-m", "venv", "--without-pip", str(environment))
    pip = ("-m", "pip", "--python", str(environment / "bin" / "python"))
    assert [line for line in install.splitlines() if line.startswith("pip ")] == [
        'pip install ".[service]"'
    ]
    run(sys.executable, tmp_path, *pip, "install", "--quiet", "--no-input", f"{ROOT}[service]")
    program = tmp_path / "tutorial.py"
    program.write_text(program_of(PAGES[0].read_text("utf-8")), "utf-8")

    assert "recollect" in run(environment / "bin" / "recollect", tmp_path, "--version")
    printed = run(environment / "bin" / "python", tmp_path, str(program))
    assert undated(printed) == undated("".join(blocks(PAGES[0], "text")))

    words = serve.split()
    with subprocess.Popen(
        [environment / "bin" / words[0], *words[1:], "--port", "0"],
        cwd=tmp_path,
        env=clean_environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as service:
        try:
            assert service.stdout is not None
            url = line_with(service.stdout, r"(http://127\.0\.0\.1:\d+)")
            assert httpx.get(f"{url}/health/ready").json()["status"] == "ok"
        finally:
            service.send_signal(signal.SIGINT)
        assert service.wait(60) == 0
    assert "recollect embedder install" in real
    assert time.monotonic() - started < WHOLE_S_MAX
