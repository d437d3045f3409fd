"""The memory behind both graphs in `langgraph dev`: one file, open until the process ends."""

from __future__ import annotations

import os
from functools import cache
from typing import Final

import recollect
from memory_service.configuration import model_named
from recollect import SyncRecollect

ROOT: Final = ("memory-service",)
"""Each user is a scope below it, and a namespace of LangGraph's store."""


@cache
def opened() -> SyncRecollect:
    """Return the memory, which both graphs and the store share."""
    url = os.environ.get("MEMORY_STORE", "memory.db")
    return recollect.open_sync(url, model=model_named(""), worker=False).__enter__()
