"""The SQL of the store on a PostgreSQL server, by name."""

from __future__ import annotations

from typing import Final

from recollect.stores.statements import named_statements, read_text

PACKAGE: Final = "recollect.stores.postgres"
"""Package with the SQL files."""
SESSION: Final = named_statements(read_text(PACKAGE, "session.sql"))
QUERIES: Final = named_statements(read_text(PACKAGE, "queries.sql"))
WRITES: Final = named_statements(read_text(PACKAGE, "writes.sql"))
GROUP: Final = named_statements(read_text(PACKAGE, "group.sql"))
