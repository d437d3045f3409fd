"""Load the Lua functions that the store runs on a Redis server from files, by name."""

from __future__ import annotations

from hashlib import sha1
from importlib.resources import files
from types import MappingProxyType
from typing import Final

_FOLDER: Final = "lua"


SCRIPTS: Final = MappingProxyType(
    {
        name: files("recollect.stores.redis").joinpath(_FOLDER, f"{name}.lua").read_text("utf-8")
        for name in ("commit", "due", "number", "restarted", "scope", "waiting")
    }
)
# The server names functions by their SHA-1: this is no protection.
DIGESTS: Final = MappingProxyType(
    {name: sha1(text.encode(), usedforsecurity=False).hexdigest() for name, text in SCRIPTS.items()}
)
