"""The Lua functions of the store on a Redis server, by name: constant texts from files."""

from __future__ import annotations

from hashlib import sha1
from importlib.resources import files
from types import MappingProxyType
from typing import Final

_FOLDER: Final = "lua"


def _text(name: str) -> str:
    return files("recollect.stores.redis").joinpath(_FOLDER, f"{name}.lua").read_text("utf-8")


SCRIPTS: Final = MappingProxyType(
    {name: _text(name) for name in ("commit", "due", "number", "restarted", "scope", "waiting")}
)
# It is how the server names a function; it protects nothing.
DIGESTS: Final = MappingProxyType(
    {name: sha1(text.encode(), usedforsecurity=False).hexdigest() for name, text in SCRIPTS.items()}
)
