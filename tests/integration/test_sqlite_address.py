"""From an address to a store: which there are, and what is refused."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import recollect
from recollect.errors import (
    EmbedderError,
    MissingExtraError,
    ModelDeniedError,
    StoreError,
    UsageError,
)
from recollect.records import NewMessage
from recollect.stores.in_process.store import InProcessStore
from recollect.stores.locator import file_of, open_store
from recollect.stores.sqlite.store import SQLiteStore

SOURCE = Path(__file__).parents[2] / "src"
ADA = ("users", "ada")


def names_in(folder: Path) -> set[str]:
    """Return the names of what is in *folder*."""
    return {path.name for path in folder.iterdir()}


@pytest.mark.parametrize("address", ["memory:", "MEMORY:"])
async def test_memory_is_a_store_in_this_process(address: str) -> None:
    """Schemes are compared without regard to case."""
    async with open_store(address) as store:
        assert isinstance(store, InProcessStore)


@pytest.mark.parametrize("form", ["sqlite://{}", "sqlite:{}", "{}"])
async def test_an_absolute_path_is_a_file(form: str, tmp_path: Path) -> None:
    """With two slashes, with none, or without a scheme: the file is the one named."""
    file = tmp_path / "memory of ada%20.db"

    async with open_store(form.replace("{}", str(file))) as store:
        await store.append(ADA, "talk", [NewMessage(role="user", text="hello")])

    assert file.exists()


@pytest.mark.parametrize("address", ["sqlite:memory.db", "memory.db", "./memory.db"])
async def test_a_relative_path_starts_here(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A relative file lies in the present folder, and stays the same if that changes."""
    monkeypatch.chdir(tmp_path)

    async with open_store(address) as store:
        monkeypatch.chdir("/")
        await store.append(ADA, "talk", [NewMessage(role="user", text="hello")])

    assert tmp_path.joinpath("memory.db").exists()


async def test_a_path_object_is_a_file(tmp_path: Path) -> None:
    """`open_store` takes what `os.fspath` takes."""
    async with open_store(tmp_path / "memory.db") as store:
        assert isinstance(store, SQLiteStore)


async def test_a_tilde_is_the_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))

    async with open_store("~/store.db"):
        pass

    assert (tmp_path / "store.db").exists()
    assert file_of("sqlite:~/store.db") == tmp_path / "store.db"


@pytest.mark.parametrize("address", [None, 3])
def test_what_is_no_address_is_refused(address: Any) -> None:
    with pytest.raises(UsageError, match=rf"url is {address}: give the address"):
        open_store(address)


def test_a_folder_is_not_taken_for_a_file(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"is a folder: name a file in it, such as .*memory\.db"):
        open_store(str(tmp_path))

    assert names_in(tmp_path) == set()


@pytest.mark.parametrize(
    ("choice", "error", "told"),
    [
        ({"embedder": "minlim"}, UsageError, "unknown embedder 'minlim'"),
        ({"embedder": "minilm"}, EmbedderError, "is not installed in .*embedder install"),
        ({"embedder": "openai/small"}, EmbedderError, "set OPENAI_API_KEY"),
        ({"embedder": "no_such:thing"}, UsageError, "neither a provider nor a module"),
        ({"embedder": "fastembed/small"}, MissingExtraError, r"recollect\[fastembed\]"),
        ({"model": "gpt-5"}, UsageError, "'gpt-5' names no provider"),
        ({"model": "no_such/gpt-5"}, UsageError, "'no_such' is no provider"),
        ({"model": "openai/gpt-5"}, ModelDeniedError, "set OPENAI_API_KEY"),
        ({"model": "no_such:thing"}, UsageError, "neither a provider nor a module"),
        ({"model": object()}, UsageError, "object is no model"),
        ({"rerank": "best"}, UsageError, "'best' is no reranker"),
        ({"rerank": "cohere/best"}, ModelDeniedError, "set COHERE_API_KEY"),
        ({"rerank": "no_such:thing"}, UsageError, "neither a provider nor a module"),
    ],
)
def test_a_choice_that_cannot_be_opened_leaves_no_file(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    choice: dict[str, Any],
    error: type[Exception],
    told: str,
) -> None:
    """Also one given to the synchronous face, which opens later."""
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "COHERE_API_KEY", "CO_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("RECOLLECT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setitem(sys.modules, "fastembed", None)
    options = {"embedder": "none"} | choice
    with pytest.raises(error, match=told):
        recollect.open(str(tmp_path / "store.db"), **options)
    sync = recollect.open_sync(str(tmp_path / "store.db"), **options)
    with pytest.raises(error, match=told):
        sync.open()

    assert names_in(tmp_path) == set()


async def test_a_link_leads_to_one_store(tmp_path: Path) -> None:
    """What SQLite keeps beside the file lies beside the real one, whatever name was used."""
    real, link = tmp_path / "real", tmp_path / "link.db"
    real.mkdir()
    link.symlink_to(real / "memory.db")

    async with open_store(link) as store:
        await store.append(ADA, "talk", [NewMessage(role="user", text="hello")])
        beside_the_real, beside_the_link = names_in(real), names_in(tmp_path)

    assert {"memory.db", "memory.db-wal"} <= beside_the_real
    assert {"link.db", "real"} == beside_the_link


@pytest.mark.parametrize("address", ["redis+x://localhost", "mysql://localhost/x", "file:x.db"])
def test_an_unknown_scheme_names_the_known_ones(address: str) -> None:
    """Whoever mistypes is told what there is."""
    with pytest.raises(UsageError, match=r"memory:.*sqlite:"):
        open_store(address)


@pytest.mark.parametrize(
    "address", ["sqlite:", "sqlite://", "sqlite://host/x.db", ":memory:", "sqlite::memory:", ""]
)
def test_an_address_without_a_file_is_refused(address: str) -> None:
    """No file, or one on another machine, is an error of the caller's."""
    with pytest.raises(UsageError, match="sqlite:///absolute/path"):
        open_store(address)


@pytest.mark.parametrize("form", ["sqlite://{}", "sqlite:{}", "{}"])
@pytest.mark.parametrize("options", ["?mode=ro", "?mode=ro&immutable=1", "?cache=shared"])
def test_options_are_not_taken_for_a_name(form: str, options: str, tmp_path: Path) -> None:
    """Whoever wants to read a store only must not be given a new, empty one to write."""
    with pytest.raises(UsageError, match="options of a SQLite address"):
        open_store(form.replace("{}", str(tmp_path / "memory.db")) + options)

    assert set() == names_in(tmp_path)


async def test_a_name_may_hold_a_question_mark(tmp_path: Path) -> None:
    """It is a file's name like any other where no option follows."""
    async with open_store(tmp_path / "whose?.db"):
        assert "whose?.db" in names_in(tmp_path)


def test_memory_takes_no_path() -> None:
    """A path after ``memory:`` would promise what is not kept."""
    with pytest.raises(UsageError, match="stands alone"):
        open_store("memory:store.db")


def test_an_unknown_durability_is_refused(tmp_path: Path) -> None:
    """A misspelt durability must not quietly be another."""
    with pytest.raises(UsageError, match=r"'none'.*'full', 'relaxed'"):
        SQLiteStore(tmp_path / "memory.db", durability="none")  # type: ignore[arg-type]

    assert set() == names_in(tmp_path)


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    """The error says which folder, and what to do."""
    with pytest.raises(StoreError, match=r"no folder '.*absent': make it"):
        open_store(tmp_path / "absent" / "memory.db")


def test_drivers_are_loaded_when_an_address_names_them() -> None:
    """A store in memory loads no SQLite."""
    program = (
        "import sys\n"
        "from recollect.stores.locator import file_of, open_store\n"
        "open_store('memory:')\n"
        "print('apsw' in sys.modules)\n"
    )

    printed = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONPATH": str(SOURCE)},
        capture_output=True,
        text=True,
        check=True,
    ).stdout

    assert "False\n" == printed
