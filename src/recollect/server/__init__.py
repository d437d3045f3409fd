"""The HTTP service: `create_app` makes it, `recollect serve` runs it."""

from __future__ import annotations

from recollect.server.http.application import create_app
from recollect.server.settings import Settings, read_settings

__all__ = ("Settings", "create_app", "read_settings")
