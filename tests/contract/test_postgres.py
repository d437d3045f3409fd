"""The store on a PostgreSQL server honours the contract."""

import pytest

from tests.harness.installed_servers import require_empty_database
from tests.harness.store_contracts import DurableServerContract, PostgresContract


@pytest.fixture
def url() -> str:
    """Return the address of a database in which nothing is kept."""
    return require_empty_database()


class TestPostgresStore(PostgresContract):
    """The backend for many machines honours the contract."""


class TestDurablePostgresStore(DurableServerContract):
    """Acknowledged data is there when the store is reopened."""
