"""`recollect backup` and `recollect restore`: nobody comes back, and nothing is restored unsaid."""

import json
from pathlib import Path

from click.testing import CliRunner, Result

from recollect.cli import main


def invoke(*arguments: str) -> Result:
    """Run a command without an embedder."""
    return CliRunner(env={"RECOLLECT_EMBEDDER": "none"}).invoke(main, list(arguments))


def filled(folder: Path) -> str:
    """Return a store in which somebody said hello."""
    chat = folder / "chat.json"
    chat.write_text(json.dumps([{"role": "user", "content": "hello"}]), "utf-8")
    store = str(folder / "one.db")
    invoke("import", str(chat), "--store", store)
    return store


def test_what_was_erased_does_not_come_back(tmp_path: Path) -> None:
    """By the ledger's file, and by the store that was in use."""
    store, backup, ledger = filled(tmp_path), str(tmp_path / "b.db"), str(tmp_path / "ledger")
    made = invoke("backup", backup, "--store", store)
    invoke("erase", "--store", store, "--everything", "--yes")
    invoke("backup", "--store", store, "--ledger", ledger)

    done = [
        invoke("restore", backup, "--store", str(tmp_path / f"{n}.db"), "--ledger", each)
        for n, each in enumerate((ledger, store))
    ]

    assert "file" == json.loads(made.stdout)["form"]
    assert [
        {"form": "file", "scopes": 0, "records": 0, "erases": 1, "applied": 1, "keys": 0}
    ] * 2 == [json.loads(each.stdout) for each in done]


def test_a_ledger_is_applied_to_a_store_that_something_else_brought_back(tmp_path: Path) -> None:
    """Without a backup to restore; not by the ledger of the store itself, nor to none."""
    store, old, ledger = filled(tmp_path), str(tmp_path / "b.db"), str(tmp_path / "ledger")
    invoke("backup", old, "--store", store)
    invoke("erase", "--store", store, "--everything", "--yes")
    invoke("backup", "--store", store, "--ledger", ledger)

    itself = invoke("restore", "--store", old, "--ledger", f"sqlite:///{old}")
    nothing = invoke("restore", "--store", old, "--no-ledger")
    nowhere = invoke("restore", "--store", str(tmp_path / "no.db"), "--ledger", ledger)
    done = invoke("restore", "--store", old, "--ledger", ledger)

    assert (2, 2) == (itself.exit_code, nothing.exit_code)
    assert "itself" in itself.stderr
    assert "there is nothing to do" in nothing.stderr
    assert "there is no backup or store" in nowhere.stderr
    assert not (tmp_path / "no.db").exists()
    found = {"form": "store", "scopes": 0, "records": 0, "erases": 1, "applied": 1, "keys": 0}
    assert found == json.loads(done.stdout)


def test_a_restore_asks_what_was_erased(tmp_path: Path) -> None:
    """Nothing is restored before that is said."""
    store, backup, new = filled(tmp_path), str(tmp_path / "b.db"), tmp_path / "new.db"
    invoke("backup", backup, "--store", store)

    unsaid = invoke("restore", backup, "--store", str(new))
    existed = new.exists()
    said = invoke("restore", backup, "--store", str(new), "--no-ledger", "--table")

    assert (2, False) == (unsaid.exit_code, existed)
    assert "say what was erased since the backup" in unsaid.stderr
    assert "2 records" in said.stdout


def test_a_backup_that_is_named_as_the_ledger_is_refused(tmp_path: Path) -> None:
    """As it would say that nothing was erased since, and bring back who was."""
    store, backup, new = filled(tmp_path), str(tmp_path / "b.db"), tmp_path / "new.db"
    invoke("backup", backup, "--store", store)
    invoke("erase", "--store", store, "--everything", "--yes")

    result = invoke("restore", backup, "--store", str(new), "--ledger", f"sqlite:///{backup}")

    assert (2, False) == (result.exit_code, new.exists())
    assert "is the backup itself" in result.stderr


def test_a_key_that_was_revoked_since_is_told_or_left_out(tmp_path: Path) -> None:
    """No ledger knows of it: it is valid again, which is said, or no key comes back at all."""
    store, backup = filled(tmp_path), str(tmp_path / "b.db")
    made = json.loads(invoke("keys", "create", "chat", "--scope", "a", "--store", store).stdout)
    invoke("backup", backup, "--store", store)
    invoke("keys", "revoke", made["id"], "--store", store)
    with_keys, without = str(tmp_path / "1.db"), str(tmp_path / "2.db")

    told = invoke("restore", backup, "--store", with_keys, "--ledger", store)
    safe = invoke("restore", backup, "--store", without, "--ledger", store, "--no-keys")
    applied = invoke("restore", "--store", with_keys, "--ledger", store, "--no-keys")
    left = invoke("keys", "list", "--store", without)

    assert 1 == json.loads(told.stdout)["keys"]
    assert "revoked or rotated since" in told.stderr
    assert "recollect keys list" in told.stderr
    assert [0, 0] == [json.loads(each.stdout)["keys"] for each in (safe, applied)]
    assert "" == safe.stderr
    assert {"keys": []} == json.loads(left.stdout)


def test_nothing_to_write_is_told(tmp_path: Path) -> None:
    """It says what can be named."""
    result = invoke("backup", "--store", str(tmp_path / "no.db"))

    assert 2 == result.exit_code
    assert "name a FILE, or --ledger FILE, or both" in result.stderr
