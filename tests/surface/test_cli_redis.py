"""Commands on a Redis server: the demonstration, keeping and looking, and the examination."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from recollect.cli import main
from tests.harness.installed_servers import require_redis
from tests.harness.redis_server import RedisServer

ENVIRONMENT = {"RECOLLECT_EMBEDDER": "none", "COLUMNS": "100", "RECOLLECT_STORE": None}
DATABASE = 5


@pytest.fixture
def server() -> RedisServer:
    """Return a running server."""
    found = require_redis()
    found.emptied(DATABASE)
    return found


def invoke(*arguments: str) -> Result:
    """Run a command."""
    return CliRunner(env=ENVIRONMENT).invoke(main, list(arguments))


def test_the_demonstration_on_a_server_leaves_nothing(server: RedisServer) -> None:
    """All acts are shown; afterwards the database is as empty as before."""
    result = invoke("demo", "--store", server.url(DATABASE))

    assert 0 == result.exit_code, result.stderr
    assert "Mira lives in Porto" in result.stdout
    assert "their bytes are gone" in result.stdout
    with server.client(DATABASE) as client:
        assert 0 == client.dbsize()


def test_a_demonstration_touches_no_database_in_use(server: RedisServer) -> None:
    """Where something is kept it is refused, and where there is no server as well."""
    with server.client(DATABASE) as client:
        client.set("mine", "1")

    used = invoke("demo", "--store", server.url(DATABASE))
    away = invoke("demo", "--store", "redis://127.0.0.1:1/0")

    assert "holds 1 keys: name a database that is empty" in used.stderr
    assert "cannot be reached" in away.stderr
    with server.client(DATABASE) as client:
        assert b"1" == client.get("mine")


def test_what_is_imported_is_found_and_examined(server: RedisServer, tmp_path: Path) -> None:
    """The commands that work on a file work on a server, and nothing is wrong with it."""
    talk = tmp_path / "talk.jsonl"
    record = {"role": "user", "content": "I moved to Lisbon in May."}
    talk.write_text(json.dumps(record) + "\n", "utf-8")
    store = ("--store", server.url(DATABASE))

    imported = invoke("import", str(talk), *store, "--scope", "users/ada")
    recalled = invoke("recall", "Where did I move?", *store, "--scope", "users/ada")
    examined = invoke("doctor", *store, "--json")

    assert 0 == imported.exit_code, imported.stderr
    assert "Lisbon" in recalled.stdout
    assert 0 == examined.exit_code, examined.stdout
    assert 1 == json.loads(examined.stdout)["contents"]["messages"]


def test_the_examination_says_what_the_server_lacks(server: RedisServer) -> None:
    """A server that may lose memories is a finding with its remedy, and a status of its own."""
    url = server.url(DATABASE).replace("durability=relaxed", "durability=full")

    result = invoke("doctor", "--store", url)

    assert 1 <= result.exit_code
    assert "CONFIG SET appendfsync always" in " ".join(result.stdout.split())


def test_a_history_in_redis_is_imported_into_the_same_server(server: RedisServer) -> None:
    """The store's own keys beside it are left alone; what is unknown is said, and nothing else."""
    said = [
        {"type": "human", "data": {"content": f"I moved to {city}."}} for city in ("Oslo", "Rome")
    ]
    with server.client(DATABASE) as client:
        for each in said:
            client.lpush("message_store:talk", json.dumps(each))
        client.set("ada:steps", b"\x80\x04]\x94.")
    url = server.url(DATABASE)
    arguments = ("import", url, "--store", url, "--sessions-as-scopes", "--table")

    first, second = invoke(*arguments), invoke(*arguments)
    found = invoke("recall", "Where does Ada live?", "--store", url, "--scope", "default/talk")

    assert 1 == first.exit_code == second.exit_code
    assert "3 rows: 2 new, 0 there already, 1 refused; 1 thread" in first.stdout
    assert "3 rows: 0 new, 2 there already, 1 refused; 1 thread" in second.stdout
    assert "in default/talk" in first.stdout
    assert "name its prefix with --key-prefix" in " ".join(first.stderr.split())
    assert "I moved to Oslo." in found.stdout


def test_options_of_redis_need_an_address_of_redis(tmp_path: Path) -> None:
    """And all sessions in one thread would be mixed."""
    file = tmp_path / "a.json"
    file.write_text("[]", "utf-8")

    of_file = invoke("import", str(file), "--match", "*")
    mixed = invoke("import", "redis://localhost/0", "--thread", "a")

    assert (2, 2) == (of_file.exit_code, mixed.exit_code)
    assert "name redis://host:6379/0" in of_file.stderr
    assert "would mix the sessions of Redis" in mixed.stderr
