"""
The HTTP service: `create_app` makes it, `recollect serve` runs it.

What a name needs is imported when it is used: the command line counts what it writes with a module
beside these, in installations without the service's packages as well.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from recollect.server.http.application import create_app
    from recollect.server.settings import Settings, read_settings

__all__ = ("Settings", "create_app", "read_settings")

_HOMES: Final = {
    "create_app": "recollect.server.http.application",
    "Settings": "recollect.server.settings",
    "read_settings": "recollect.server.settings",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
