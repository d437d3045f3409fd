"""Allow slashes, written as %2F, in the names that paths contain."""

from __future__ import annotations

from typing import Final
from urllib.parse import unquote

from fastapi.routing import APIRoute
from starlette.routing import Match
from starlette.types import Scope

_SLASH: Final = "\udc2f"
"""Stands for a slash inside a name while routes are matched; no path decodes to it."""


def path_by_names(raw_path: bytes) -> str:
    r"""
    Decode a path, and replace each slash inside a name by a placeholder.

    >>> path_by_names(b"/v1/threads/a%2Fb/messages")
    '/v1/threads/a\udc2fb/messages'
    """
    parts = raw_path.decode("ascii", "replace").split("/")
    return "/".join(unquote(each).replace("/", _SLASH) for each in parts)


def has_written_slash(scope: Scope) -> bool:
    """Return True if a name in the path of a request contains an escaped slash."""
    raw_path: bytes = scope.get("raw_path") or b""
    return b"%2f" in raw_path.lower()


class NamedRoute(APIRoute):
    """
    A route whose names may contain slashes.

    ASGI servers decode a path before routes are matched, which splits a name at an escaped slash.
    Such a path is matched in its raw form instead.
    """

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Return whether the route matches a request, with the names in its path."""
        if not has_written_slash(scope):
            return super().matches(scope)
        match, found = super().matches({**scope, "path": path_by_names(scope["raw_path"])})
        names = found.get("path_params", {})
        for name, each in names.items():
            if isinstance(each, str):
                names[name] = each.replace(_SLASH, "/")
        return match, found
