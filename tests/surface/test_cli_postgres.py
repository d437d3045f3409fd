"""Commands on a PostgreSQL server: the demonstration, and the end of an upgrade."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from recollect.cli import main
from tests.harness.installed_servers import require_postgres, require_programs
from tests.harness.postgres_server import PostgresServer

ENVIRONMENT = {"RECOLLECT_EMBEDDER": "none", "COLUMNS": "100", "RECOLLECT_STORE": None}
DATABASES = "SELECT datname FROM pg_database ORDER BY datname"
ROLES = "SELECT rolname FROM pg_roles ORDER BY rolname"


@pytest.fixture
def server() -> PostgresServer:
    """Return a running server."""
    return require_postgres()


def invoke(*arguments: str) -> Result:
    """Run a command."""
    return CliRunner(env=ENVIRONMENT).invoke(main, list(arguments))


def test_the_demonstration_on_a_server_leaves_nothing() -> None:
    """All acts are shown; afterwards the server has neither a database nor a role more."""
    binaries = require_programs()
    server = PostgresServer(binaries)
    try:
        server.start()
        before = server.execute(DATABASES), server.execute(ROLES)

        result = invoke("demo", "--store", server.url())

        assert 0 == result.exit_code, result.stderr
        assert "Mira lives in Porto" in result.stdout
        assert "their bytes are gone" in result.stdout
        assert before == (server.execute(DATABASES), server.execute(ROLES))
    finally:
        server.remove()


def test_a_demonstration_goes_to_one_place(tmp_path: Path) -> None:
    """A file and a server at once, a server that is none, or is away, is refused."""
    file, server = str(tmp_path / "demo.db"), "postgresql://ada@localhost:1/nothing"

    both = invoke("demo", "--keep", file, "--store", server)
    no_server = invoke("demo", "--store", file)
    away = invoke("demo", "--store", server)

    assert "give one of them" in both.stderr
    assert "is no PostgreSQL server" in no_server.stderr
    assert "the server cannot be reached" in away.stderr
    assert 0 not in {both.exit_code, no_server.exit_code, away.exit_code}


def test_who_may_make_no_database_is_told_so(server: PostgresServer) -> None:
    """The sentence says which right is missing."""
    server.execute("DROP ROLE IF EXISTS visitor")
    server.execute("CREATE ROLE visitor LOGIN")

    result = invoke("demo", "--store", server.url(user="visitor"))

    assert "ALTER ROLE visitor CREATEDB" in result.stderr


def test_an_upgrade_is_finished(server: PostgresServer, tmp_path: Path) -> None:
    """The doctor says that nothing is left that only earlier releases need; on a file as well."""
    server.execute("DROP DATABASE IF EXISTS upgraded WITH (FORCE)")
    url, file = server.make_database("upgraded"), str(tmp_path / "memory.db")

    for store in (url, file):
        result = invoke("doctor", "--finish-upgrade", "--store", store, "--json")

        assert "finished" in " ".join(json.loads(result.stdout)["notes"])
