"""The SQL of the store in a SQLite file, by name."""

from __future__ import annotations

from typing import Final

from recollect.stores.statements import named_statements, read_text

PACKAGE: Final = "recollect.stores.sqlite"
"""Where the files are."""
QUERIES: Final = named_statements(read_text(PACKAGE, "queries.sql"))
WRITES: Final = named_statements(read_text(PACKAGE, "writes.sql"))
