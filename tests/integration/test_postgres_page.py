"""docs/postgresql.md is true: its statements prepare a server, and its program runs on it."""

import runpy
from collections.abc import Iterator
from pathlib import Path

import pytest

from recollect.errors import StoreReadOnlyError
from recollect.stores.locator import open_store
from recollect.stores.postgres.location import (
    CONNECTIONS_MAX,
    LOCK_WAIT_S,
    STATEMENT_S,
    TURN_WAIT_S,
)
from tests.harness.installed_servers import open_own_postgres
from tests.harness.postgres_server import PostgresServer
from tests.structure.test_docs import python_blocks
from tests.surface.test_tutorial import blocks

PAGE = Path(__file__).parents[2] / "docs" / "postgresql.md"
ADDRESS = "postgresql://memory@localhost/memory"


@pytest.fixture
def server() -> Iterator[PostgresServer]:
    """Yield a server that nobody has used: no role of ours is on it."""
    with open_own_postgres() as server:
        yield server


def run(program: str, url: str, folder: Path) -> None:
    """Run the page's program on the server at *url*."""
    path = folder / "program.py"
    path.write_text(program.replace(ADDRESS, url), "utf-8")
    runpy.run_path(str(path))


@pytest.mark.slow
def test_the_page_leads_from_a_bare_server_to_a_memory(
    server: PostgresServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its user may make the schema, use it and write it anew; a second one may use it."""
    for statements in blocks(PAGE, "sql"):
        for statement in statements.splitlines():
            server.execute(statement)
    program, *_ = python_blocks(PAGE.read_text("utf-8"))  # the others need replicas
    url = server.url("memory", user="memory")

    assert ADDRESS in program.body
    run(program.body, url, tmp_path)

    assert "I moved to Oslo." in capsys.readouterr().out
    found = server.execute(
        "SELECT count(*) FROM pg_class WHERE relname ~ '^message_\\d$'", "memory"
    )
    assert [(8,)] == found
    server.execute("CREATE USER guest")
    guest = server.url("memory", user="guest")
    with pytest.raises(StoreReadOnlyError, match="grant it recollect_app"):
        open_store(guest)
    server.execute("GRANT recollect_app TO guest")
    run(program.body, guest, tmp_path)


def test_the_limits_of_the_page_are_those_of_the_code() -> None:
    text = PAGE.read_text("utf-8")

    for words in (
        f"| {CONNECTIONS_MAX} connections",
        f"waits for one of them, at most | {TURN_WAIT_S:.0f} s",
        f"same scope, at most | {LOCK_WAIT_S:.0f} s",
        f"statement run, at most | {STATEMENT_S:.0f} s",
    ):
        assert words in text
