"""The browser with which the page is walked through, and the services that serve it."""

from __future__ import annotations

import json
import os
import re
import select
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import pytest

ROOT: Final = Path(__file__).parents[2]
WEB: Final = ROOT / "web"
HERE: Final = Path(__file__).parent
STATIC: Final = ROOT / "src" / "recollect" / "server" / "static"
PICTURES: Final = HERE / "pictures"
START_S: Final = 60.0
STORY_S: Final = 480.0
BROWSERS: Final = ("chromium", "chromium-browser", "google-chrome")


def needed() -> tuple[str, str]:
    """Return Node and Chromium, or skip and say what is missing."""
    node = shutil.which("node")
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if node is None:
        pytest.skip("Node is not installed: the page is tested where it can be built")
    if browser is None:
        pytest.skip(f"no browser is installed: none of {', '.join(BROWSERS)} is on the path")
    if (
        not (WEB / "node_modules" / "playwright-core").is_dir()
        or not (STATIC / "index.html").is_file()
    ):
        pytest.skip("the page is not built: run `make page`")
    return node, browser


@dataclass(frozen=True, slots=True, kw_only=True)
class Story:
    """What was found out on the way through the page."""

    facts: dict[str, Any] = field(hash=False)
    chapters: dict[str, str] = field(hash=False)
    audits: list[dict[str, Any]] = field(hash=False)
    overflows: dict[str, int] = field(hash=False)
    unseen: dict[str, list[str]] = field(hash=False)
    acts: list[dict[str, Any]] = field(hash=False)
    pictures: list[dict[str, Any]] = field(default_factory=list, hash=False)

    @property
    def serious(self) -> list[tuple[str, str]]:
        """Return the screens and rules of accessibility findings that are serious or worse."""
        return [
            (audit["screen"], found["id"])
            for audit in self.audits
            for found in audit["violations"]
            if found["impact"] in {"serious", "critical"}
        ]


def served(process: subprocess.Popen[bytes], *, needs_key: bool) -> tuple[str, str]:
    """Return the address, and the first key, that a service tells when it has started."""
    until = time.monotonic() + START_S
    told = ""
    assert process.stdout is not None
    while time.monotonic() < until and process.poll() is None:
        if not select.select([process.stdout], [], [], 0.2)[0]:
            continue
        told += os.read(process.stdout.fileno(), 65_536).decode()
        address = re.search(r"http://127\.0\.0\.1:\d+\s", told)
        key = re.search(r"\brk_[\w-]+\s", told)
        if address and (key or not needs_key):
            return address[0].strip(), key[0].strip() if key else ""
    pytest.fail(f"`recollect serve` told no address within {START_S:g} s: {told!r}")


@contextmanager
def serving(folder: Path, *options: str, after_s: float) -> Iterator[tuple[str, str]]:
    """Serve an empty store; give its address, and the key that it told at its first start."""
    config = folder / "page.toml"
    config.write_text(f"after_seconds = {after_s:g}\n", "utf-8")
    command = [sys.executable, "-m", "recollect", "serve", "--store", str(folder / "page.db")]
    command += ["--port", "0", "--embedder", "none", "--log-level", "error"]
    command += ["--config", str(config), *options]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(
        command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    ) as process:
        try:
            yield served(process, needs_key="--no-auth" not in options)
        finally:
            process.terminate()


def read_story(told: str) -> Story:
    """Return the facts that a story printed, one JSON line each."""
    story = Story(facts={}, chapters={}, audits=[], overflows={}, unseen={}, acts=[])
    for line in told.splitlines():
        fact = json.loads(line)
        name, value = fact["name"], fact["value"]
        if name == "chapter":
            story.chapters[value["name"]] = value["ended"]
        elif name == "axe":
            story.audits.append(value)
        elif name == "overflow_px":
            story.overflows[value["screen"]] = value["px"]
        elif name == "act":
            story.acts.append(value)
        elif name == "picture":
            story.pictures.append(value)
        elif name == "unseen":
            story.unseen[value["screen"]] = value["unseen"]
        else:
            story.facts[name] = value
    return story


@dataclass(frozen=True, slots=True, kw_only=True)
class Walks:
    """Walks through the page with a browser, and the services that serve it."""

    node: str
    browser: str

    def serving(
        self, folder: Path, *options: str, after_s: float
    ) -> AbstractContextManager[tuple[str, str]]:
        """Serve the store ``page.db`` of *folder*; give its address, and the key of its start."""
        return serving(folder, *options, after_s=after_s)

    def walked(
        self, service: str, *, extent: str, key: str = "", script: str = "story.mjs"
    ) -> Story:
        """Walk through the page as a script says, and return what was found out."""
        pictures = PICTURES / extent
        shutil.rmtree(pictures, ignore_errors=True)
        script_path = str(WEB / "story" / script)
        finished = self._run([script_path, service, str(pictures), self.browser, extent], key=key)
        assert finished.stdout, finished.stderr
        return read_story(finished.stdout)

    def unit_tests(self) -> subprocess.CompletedProcess[str]:
        """Run the tests of the page's pure parts."""
        return self._run(["node_modules/vitest/vitest.mjs", "run"])

    def _run(self, command: list[str], *, key: str = "") -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [self.node, *command],
            cwd=WEB,
            env={**os.environ, "RECOLLECT_KEY": key},
            capture_output=True,
            text=True,
            timeout=STORY_S,
            check=False,
        )


@pytest.fixture(scope="session")
def walks() -> Walks:
    """Return what walks through the page; skip where it cannot be built or shown."""
    node, browser = needed()
    return Walks(node=node, browser=browser)
