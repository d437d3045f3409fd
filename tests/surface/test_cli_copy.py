"""`recollect copy`: two stores become equal, and what is amiss is a sentence."""

import json
from pathlib import Path

from click.testing import CliRunner, Result

from recollect.cli import main


def invoke(*arguments: str) -> Result:
    """Run a command without an embedder."""
    return CliRunner(env={"RECOLLECT_EMBEDDER": "none"}).invoke(main, list(arguments))


def filled(folder: Path) -> str:
    """Return a store with one message."""
    chat = folder / "chat.json"
    chat.write_text(json.dumps([{"role": "user", "content": "hello"}]), "utf-8")
    store = str(folder / "one.db")
    invoke("import", str(chat), "--store", store)
    return store


def test_a_copy_says_what_it_verified(tmp_path: Path) -> None:
    """As a table and as JSON, with the digests of both sides."""
    store, other = filled(tmp_path), str(tmp_path / "two.db")

    first = invoke("copy", "--from", store, "--to", other, "--table")
    again = json.loads(invoke("copy", "--from", store, "--to", other).stdout)

    assert 0 == first.exit_code
    assert "1 scope, 2 records: 2 written in 2 passes" in first.stdout
    assert "verified: counts and digests are equal" in first.stdout
    assert (True, 0) == (again["verified"], again["written"])
    assert again["digest_source"] == again["digest_destination"]


def test_a_move_by_two_copies_takes_along_what_happened_between(tmp_path: Path) -> None:
    """Who was erased is gone there, and what was used there is refused by name."""
    store, other = filled(tmp_path), str(tmp_path / "two.db")
    invoke("import", str(tmp_path / "chat.json"), "--store", store, "--scope", "bob")
    invoke("copy", "--from", store, "--to", other)
    invoke("erase", "--store", store, "--scope", "bob", "--everything", "--yes")

    moved = invoke("copy", "--from", f"sqlite:///{store}", "--to", other)
    left = json.loads(invoke("threads", "--store", other, "--scope", "bob").stdout)
    invoke("erase", "--store", other, "--everything", "--yes")
    refused = invoke("copy", "--from", store, "--to", other)

    assert (0, True) == (moved.exit_code, json.loads(moved.stdout)["verified"])
    assert [] == left["threads"]
    assert 4 == refused.exit_code
    assert "was written or erased at the destination since it was copied there" in refused.stderr


def test_one_scope_is_copied(tmp_path: Path) -> None:
    """The other one stays where it is."""
    store, other = filled(tmp_path), str(tmp_path / "two.db")
    invoke("import", str(tmp_path / "chat.json"), "--store", store, "--scope", "users/bob")

    result = invoke("copy", "--from", store, "--to", other, "--scope", "users/bob")
    left = json.loads(invoke("threads", "--store", other).stdout)

    assert (0, 1) == (result.exit_code, json.loads(result.stdout)["scopes"])
    assert [] == left["threads"]


def test_a_copy_onto_itself_is_refused(tmp_path: Path) -> None:
    """By whatever path it is named."""
    store = filled(tmp_path)

    result = invoke("copy", "--from", store, "--to", f"sqlite:///{store}")

    assert 2 == result.exit_code
    assert "is source and destination: name two stores" in result.stderr


def test_a_source_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    """The destination is not made either."""
    result = invoke("copy", "--from", str(tmp_path / "no.db"), "--to", str(tmp_path / "two.db"))

    assert 3 == result.exit_code
    assert [] == list(tmp_path.iterdir())
