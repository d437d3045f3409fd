"""LangGraph's SqliteStore on a driver that loads extensions, which its vectors need."""

from __future__ import annotations

import sqlite3
from contextlib import ExitStack, closing
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any


def sqlite_store(exit_: ExitStack, path: Path, index: Any, journal: str) -> Any | None:
    """
    Return SqliteStore, without vectors if no driver loads extensions.

    By itself it keeps the journal that SQLite begins with, DELETE.
    """
    try:
        from langgraph.store.sqlite import SqliteStore
    except ModuleNotFoundError:
        return None
    driver = _driver()
    # Opened like `SqliteStore.from_conn_string`, which supports only Python's own driver.
    opened = driver.connect(str(path), check_same_thread=False, isolation_level=None)
    connection = exit_.enter_context(closing(opened))
    connection.execute(f"PRAGMA journal_mode = {journal}")
    store = SqliteStore(connection, index=index if _loads_extensions(driver) else None)
    store.setup()
    return store


def _driver() -> Any:
    """Return an SQLite driver that loads extensions, else Python's own."""
    if not _loads_extensions(sqlite3) and find_spec("pysqlite3"):
        return import_module("pysqlite3")
    return sqlite3


def _loads_extensions(driver: Any) -> bool:
    return hasattr(driver.Connection, "enable_load_extension")
