"""The HTTP service: `create_app` makes it, `recollect serve` runs it."""

from __future__ import annotations

from recollect.service.app import create_app
from recollect.service.settings import Settings, read_settings

__all__ = ("Settings", "create_app", "read_settings")
