"""Indexes of large scopes in files, as commands keep them: on unless somebody says otherwise."""

import re
import sys
from collections.abc import Sequence
from pathlib import Path

import anyio
import httpx
import pytest
from click.testing import CliRunner

import recollect
from recollect.cli import main
from recollect.errors import EXIT_STATUS
from recollect.recall.index_file_upkeep import FILED_ENTRIES_MIN
from recollect.records import NewMessage
from recollect.stores.locator import open_store
from recollect.stores.sqlite.index_files import folder_beside
from tests.surface.test_cli_serve import LINE_S_MAX, line_with, process

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="maps of a process are in /proc")
NOT_ANSWERED = "nothing was recalled"


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """Return a store with the index of a large scope in a file, as another process left it."""
    path = tmp_path / "recollect.db"

    async def fill() -> None:
        said = [NewMessage(role="user", text=f"kite {each}") for each in range(FILED_ENTRIES_MIN)]
        async with open_store(path, durability="relaxed") as opened:
            for start in range(0, len(said), 1_000):
                await opened.append(("default",), "talk", said[start : start + 1_000])
        async with recollect.open(str(path), embedder="none", worker=False) as memory:
            await memory.recall(("default",), "kite 7")
            with anyio.fail_after(LINE_S_MAX):
                while not files_of(path):  # noqa: ASYNC110 (nothing tells of it)
                    await anyio.sleep(0.05)

    anyio.run(fill)
    return path


def files_of(store: Path) -> list[str]:
    """Return the names of the index files beside *store*."""
    folder = folder_beside(store)
    return sorted(str(each.relative_to(folder)) for each in folder.rglob("*") if each.is_file())


def mapped_after_a_recall(store: Path, *arguments: str, **variables: str) -> Sequence[str]:
    """Return the index files that a service has mapped once it has answered its first recall."""
    with process(store.parent, "--no-auth", *arguments, **variables) as running:
        assert running.stderr is not None
        url = line_with(running.stderr, r"at (http://\S+)")
        found = httpx.post(f"{url}/v1/recall", json={"query": "kite 7"}, timeout=LINE_S_MAX).json()
        assert "kite 7" == found["entries"][0]["text"], NOT_ANSWERED
        maps = Path(f"/proc/{running.pid}/maps").read_text("utf-8")
    return re.findall(rf"{re.escape(str(folder_beside(store)))}/(\S+)", maps)


def test_the_first_recall_of_a_served_store_reads_the_index_from_its_file(store: Path) -> None:
    """It maps the file that is there, and writes no other."""
    files = files_of(store)

    found = mapped_after_a_recall(store)

    assert 1 == len(files)
    assert set(files) == set(found)
    assert files == files_of(store)


@pytest.mark.parametrize("by", ["flag", "environment", "file"])
def test_a_service_that_is_told_so_maps_no_file(store: Path, by: str) -> None:
    """A flag, the environment or the configuration file turn it off; so the file above was used."""
    config = store.with_name("memory.toml")
    config.write_text("index_files = false\n", "utf-8")
    arguments = {"flag": ["--no-index-files"], "file": ["--config", str(config)]}.get(by, [])
    variables = {"RECOLLECT_INDEX_FILES": "false"} if by == "environment" else {}

    assert [] == mapped_after_a_recall(store, *arguments, **variables)


def test_a_flag_goes_before_the_configuration_file(store: Path) -> None:
    """What is asked for on the command line counts."""
    config = store.with_name("memory.toml")
    config.write_text("index_files = false\n", "utf-8")

    found = mapped_after_a_recall(store, "--index-files", "--config", str(config))

    assert set(files_of(store)) == set(found)


def test_a_setting_that_is_neither_true_nor_false_is_refused(tmp_path: Path) -> None:
    """The error names the file, the key and the value."""
    config = tmp_path / "memory.toml"
    config.write_text('index_files = "no"\n', "utf-8")
    given = ["recall", "kite", "--store", str(tmp_path / "memory.db")]

    result = CliRunner().invoke(main, given, env={"RECOLLECT_CONFIG": str(config)})

    assert EXIT_STATUS["usage"] == result.exit_code
    assert "index_files: is true or false, not 'no'" in result.output
