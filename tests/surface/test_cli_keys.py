"""`recollect keys`: who runs the service looks after its keys on the machine of the store."""

import asyncio
import json
import re
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import recollect
from recollect.cli import main
from recollect.cli.store_choice import user_store
from recollect.errors import EXIT_STATUS, UnknownKeyError, UsageError
from recollect.records import Scope
from recollect.server import first_key
from recollect.server.api_keys import Keys
from recollect.server.authorization import PERMISSIONS, Principal
from recollect.server.first_key import check_scope_is_bound, read_common_scope
from recollect.side_records import KEYS_SCOPE
from recollect.stores.locator import open_store
from tests.harness.installed_servers import require_empty_database, require_redis

DATABASE = 11
SECRET = re.compile(r"rk_[0-9a-f]{16}_[\w-]{43}")


@pytest.fixture(params=["sqlite", "postgres", "redis"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Return the address of an empty store of each kind that keeps what it has."""
    if request.param == "redis":
        return require_redis().emptied(DATABASE)
    if request.param == "postgres":
        return require_empty_database("keys")
    return str(tmp_path / "memory.db")


@pytest.fixture
def file(tmp_path: Path) -> str:
    """Return the address of an empty store in a file."""
    return str(tmp_path / "memory.db")


def fill(url: str, scopes: Iterable[Scope], *, keys: Iterable[tuple[str, Scope]] = ()) -> None:
    """Say something in each scope, and create keys."""

    async def act() -> None:
        async with recollect.open(url, embedder="none") as memory:
            for scope in scopes:
                await memory.append(scope, "t", [recollect.NewMessage(role="user", text="Hi.")])
            for name, scope in keys:
                await Keys(memory.store).create(name, scope, PERMISSIONS)

    asyncio.run(act())


def asked(url: str, key: str) -> Principal:
    """Return who a service takes the holder of a key for."""

    async def act() -> Principal:
        async with open_store(url) as store:
            return await Keys(store).principal(key)

    return asyncio.run(act())


def invoke(url: str, *arguments: str) -> Result:
    """Run `recollect keys` on a store, as at a terminal."""
    return CliRunner().invoke(main, ["keys", *arguments, "--store", url, "--table"])


def test_a_key_is_created_listed_and_revoked(store: str) -> None:
    """It is printed once, alone on standard output; afterwards it is good for nothing."""
    fill(store, [("acme", "ada")])

    made = invoke(store, "create", "chat", "--scope", "acme/ada", "--may", "read")
    secret = made.stdout.strip()
    principal = asked(store, secret)
    listed = invoke(store, "list")
    revoked = invoke(store, "revoke", principal.key_id)

    assert SECRET.fullmatch(secret)
    assert ("acme", "ada") == principal.scope
    assert {"read"} == principal.permissions
    assert principal.key_id in listed.stdout
    assert "acme/ada" in listed.stdout
    assert secret not in listed.output
    assert 0 == revoked.exit_code
    assert "`recollect keys recover` creates one" in revoked.stderr
    with pytest.raises(UnknownKeyError):
        asked(store, secret)


def test_a_lost_first_key_is_replaced(store: str) -> None:
    """By one for the same scope with all permissions; the lost one is named, and stays."""
    fill(store, [], keys=[("other", ("globex",)), ("first", ("acme",))])

    found = invoke(store, "recover")
    principal = asked(store, found.stdout.strip())

    assert ("acme",) == principal.scope
    assert set(PERMISSIONS) == principal.permissions
    assert 1 == found.stderr.count("stays valid")
    assert "first, for acme" in found.stderr


def test_a_key_is_recovered_where_there_was_none(file: str) -> None:
    """For the only tenant of the store, or for a scope that is named."""
    fill(file, [("acme", "ada"), ("acme", "bea")])

    found = [invoke(file, "recover", *scope) for scope in ([], ["--scope", "acme/ada"])]

    assert [("acme",), ("acme", "ada")] == [
        asked(file, each.stdout.strip()).scope for each in found
    ]


def test_a_pipe_gets_json(file: str) -> None:
    """The record of the key, and the key in it, this once."""
    fill(file, [("acme",)])

    made = CliRunner().invoke(main, ["keys", "create", "chat", "--store", file])
    record = json.loads(made.stdout)
    listed = json.loads(CliRunner().invoke(main, ["keys", "list", "--store", file]).stdout)

    assert (["acme"], ["read", "write"]) == (record["scope"], record["permissions"])
    assert "chat" == asked(file, record.pop("key")).name
    assert [record["id"]] == [each["id"] for each in listed["keys"]]
    assert "key" not in listed["keys"][0]


def test_keys_of_a_scope_are_listed(file: str) -> None:
    """Those that are bound to it or below it."""
    fill(file, [], keys=[("a", ("acme", "ada")), ("b", ("acme",)), ("c", ("globex",))])

    listed = CliRunner().invoke(main, ["keys", "list", "--store", file, "--scope", "acme"])

    assert {"a", "b"} == {each["name"] for each in json.loads(listed.stdout)["keys"]}


def test_a_key_that_ends_is_said_to_have_expired(file: str) -> None:
    """The time is in the table until then; a past one is refused."""
    fill(file, [("acme",)])
    soon = (datetime.now(UTC) + timedelta(days=2)).date()

    made = invoke(file, "create", "soon", "--expires", soon.isoformat())
    late = invoke(file, "create", "late", "--expires", "2020-01-01")

    assert 0 == made.exit_code
    assert f"{soon} 00:00" in invoke(file, "list").stdout
    assert EXIT_STATUS["usage"] == late.exit_code


def test_what_is_done_to_keys_is_audited(file: str) -> None:
    """As done by the user of this machine."""
    fill(file, [("acme",)])
    id_ = asked(file, invoke(file, "create", "chat").stdout.strip()).key_id
    invoke(file, "revoke", id_)

    async def read() -> list[str | None]:
        async with recollect.open(file, embedder="none") as memory:
            return [each.actor for each in (await memory.audit(KEYS_SCOPE)).rows]

    assert {"local"} == set(asyncio.run(read()))
    assert len(asyncio.run(read())) >= 2


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        (("revoke", "0123456789abcdef"), "not_found"),
        (("create", "x", "--scope", "recollect:service/keys"), "usage"),
        (("create", ""), "usage"),
    ],
)
def test_what_cannot_be_done_is_one_sentence(
    file: str, arguments: tuple[str, ...], status: str
) -> None:
    """With the exit status of its error."""
    fill(file, [("acme",)])

    result = invoke(file, *arguments)

    assert EXIT_STATUS[status] == result.exit_code
    assert 1 == len(result.stderr.strip().splitlines())


def test_a_store_that_is_not_there_is_not_made(file: str) -> None:
    """The error names the user's own store only where that is."""
    result = invoke(file, "list")

    assert EXIT_STATUS["not_found"] == result.exit_code
    assert not Path(file).exists()


def test_the_users_own_store_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keys are those of the store that `recollect serve` uses; other commands name it."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.delenv("RECOLLECT_STORE", raising=False)
    monkeypatch.chdir(tmp_path)
    own = user_store()
    assert own is not None
    own.parent.mkdir(parents=True)
    fill(str(own), [("acme",)], keys=[("first", ("acme",))])

    listed = CliRunner().invoke(main, ["keys", "list", "--json"])
    other = CliRunner().invoke(main, ["memories"])

    assert ["first"] == [each["name"] for each in json.loads(listed.stdout)["keys"]]
    assert f"that of `recollect serve` is {str(own)!r}" in other.stderr


@pytest.mark.parametrize(
    ("scopes", "common"),
    [
        ([], ()),
        ([("demo", "mira")], ("demo", "mira")),
        ([("acme", "a"), ("acme", "b")], ("acme",)),
        ([("acme",), ("acme", "b")], ("acme",)),
        ([("acme", "a"), ("globex",)], ()),
    ],
)
def test_the_common_scope_of_a_store(file: str, scopes: list[Scope], common: Scope) -> None:
    """It is the deepest that all is in; the service's own is not part of it."""
    fill(file, scopes, keys=[("first", ("elsewhere",))])

    async def read() -> Scope:
        async with open_store(file) as opened:
            return await read_common_scope(opened)

    assert common == asyncio.run(read())


def test_a_scope_that_no_key_opens_is_refused(file: str) -> None:
    """The error names the scopes of the keys; a scope with a key, and a store without, pass."""
    fill(file, [], keys=[("first", ("acme",))])

    async def check() -> None:
        async with open_store(file) as opened:
            keys = await Keys(opened).all()
        check_scope_is_bound(("acme",), keys)
        check_scope_is_bound(("x",), [])
        with pytest.raises(UsageError, match=r"for acme\. Create one with `recollect keys create"):
            check_scope_is_bound(("x",), keys)

    asyncio.run(check())


def test_a_first_key_that_sees_too_little_is_caught(
    file: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mutant: a first key bound to the only user there is would not see the next one."""
    fill(file, [("acme", "ada")])
    monkeypatch.setattr(first_key, "first_scope", lambda _, common: common)

    async def act() -> str | None:
        async with open_store(file) as opened:
            return await first_key.ensure_first_key(Keys(opened), None, ("acme", "ada"))

    assert ("acme",) != asked(file, asyncio.run(act()) or "").scope
