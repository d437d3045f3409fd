"""
The HTTP service: `create_app` makes it, `recollect serve` runs it.

What a name needs is imported when it is used: the command line counts what it writes with a module
beside these, in installations without the service's packages as well.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from recollect.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from recollect.server.http.application import create_app
    from recollect.server.settings import Settings, read_settings

__all__ = ("Settings", "create_app", "read_settings")

__getattr__ = lazy_exports(
    __name__,
    {
        "recollect.server.http.application": "create_app",
        "recollect.server.settings": "Settings read_settings",
    },
)
