"""The fixtures for programs that use a memory, in runs of pytest of their own."""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PLUGIN = "recollect.pytest_plugin"
PAGE = ROOT / "docs" / "testing.md"
# Marked for each of the runners, and for none where it takes every coroutine.
TESTS = """
import pytest

opened = []

@pytest.fixture
def anyio_backend():
    return "asyncio"

{decorator}
async def filled(recollect_memory):
    await recollect_memory.append("ada", "chat", "I live in Oslo.")
    yield recollect_memory
    assert recollect_memory.loop is not None

{mark}
async def test_memory(recollect_memory, recollect_clock):
    opened.append(recollect_memory)
    (message,) = await recollect_memory.append("ada", "chat", "I live in Oslo.")
    assert message.time == recollect_clock.now()

{mark}
async def test_it_was_closed_and_this_one_is_empty(recollect_memory):
    assert opened[0].loop is None
    assert (await recollect_memory.threads("ada")).rows == ()

{mark}
async def test_a_fixture_of_a_program_builds_on_it(filled, recollect_memory):
    assert filled is recollect_memory
    assert (await filled.thread("ada", "chat")).count == 1

def test_without_await(recollect_sync_memory):
    recollect_sync_memory.append("ada", "chat", "I live in Oslo.")
    assert recollect_sync_memory.recall("ada", "Oslo").entries
"""
ANYIO = ("-p", "anyio.pytest_plugin")
ASYNCIO = (
    *("-p", "pytest_asyncio.plugin"),
    *("-o", "asyncio_default_fixture_loop_scope=function"),
)
RUNNERS = {
    "anyio": (ANYIO, "@pytest.mark.anyio", "@pytest.fixture"),
    "anyio auto": ((*ANYIO, "-o", "anyio_mode=auto"), "", "@pytest.fixture"),
    "asyncio": (
        (*ASYNCIO, "-o", "asyncio_mode=strict"),
        "@pytest.mark.asyncio",
        "import pytest_asyncio\n@pytest_asyncio.fixture",
    ),
    "asyncio auto": ((*ASYNCIO, "-o", "asyncio_mode=auto"), "", "@pytest.fixture"),
    "both": ((*ANYIO, *ASYNCIO), "@pytest.mark.anyio", "@pytest.fixture"),
}


def run(folder: Path, text: str, *arguments: str) -> str:
    """Run a test module with the plugin and those that are named; return its summary."""
    return printed(folder, text, *arguments).rpartition("\n")[2]


def printed(folder: Path, text: str, *arguments: str) -> str:
    """Return all that such a run prints."""
    folder.joinpath("test_program.py").write_text(text, "utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "-p", PLUGIN, "-W", "error", *arguments]
    environment = {
        **os.environ,
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        "PYTHONPATH": str(ROOT / "src"),
    }
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    return re.sub(r" in [\d.]+s$", "", (done.stderr + done.stdout).strip())


@pytest.mark.parametrize("name", RUNNERS)
def test_a_memory_opens_in_the_loop_of_each_runner(tmp_path: Path, name: str) -> None:
    """It is the test's own, open in the event loop of the test, and closed afterwards."""
    arguments, mark, decorator = RUNNERS[name]

    found = run(tmp_path, TESTS.format(mark=mark, decorator=decorator), *arguments)

    assert "4 passed" == found


def test_a_test_without_a_loop_is_told_what_to_use(tmp_path: Path) -> None:
    text = "def test_plain(recollect_memory):\n    pass\n"

    told = printed(tmp_path, text, *ANYIO)

    assert "or use recollect_sync_memory" in told
    assert told.endswith("1 error")


def test_the_tests_of_the_page_pass(tmp_path: Path) -> None:
    """A reader who copies the page into a test module sees every test pass."""
    text = PAGE.read_text("utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    tests = [each for each in blocks if "asyncio.run" not in each]
    names = [name for each in tests for name in re.findall(r"def (test_\w+)", each)]
    # Options that one block overrides are not those of the blocks before it.
    plain = "\n".join(each for each in tests if "def recollect_options" not in each)
    special = "import pytest\n" + "".join(each for each in tests if each not in plain)

    found = [run(tmp_path, each, *ANYIO) for each in (plain, special)]

    assert [f"{len(names) - 1} passed", "1 passed"] == found


def test_the_plugin_is_found_by_pytest() -> None:
    """An entry point of the package names it."""
    settings = tomllib.loads(ROOT.joinpath("pyproject.toml").read_text("utf-8"))

    assert {"recollect": PLUGIN} == settings["project"]["entry-points"]["pytest11"]


def test_an_unused_plugin_loads_nothing(tmp_path: Path) -> None:
    """A run of a program that never uses a memory imports nothing but the plugin."""
    text = (
        "import sys\n"
        "def test_what_is_loaded():\n"
        "    ours = {each for each in sys.modules if each.partition('.')[0] == 'recollect'}\n"
        f"    assert ours == {{'recollect', 'recollect.lazy_exports', {PLUGIN!r}}}\n"
        "    assert 'numpy' not in sys.modules\n"
    )

    assert "1 passed" == run(tmp_path, text, *ANYIO)
