"""The SQL statements of the SQLite store, by name."""

from __future__ import annotations

from typing import Final

from recollect.stores.statements import named_statements, read_text

PACKAGE: Final = "recollect.stores.sqlite"
"""The package that contains the SQL files."""
QUERIES: Final = named_statements(read_text(PACKAGE, "queries.sql"))
WRITES: Final = named_statements(read_text(PACKAGE, "writes.sql"))
