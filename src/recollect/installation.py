"""How this package was installed, so that errors can name a command that works."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote, urlsplit

PACKAGE: Final = "recollect"


def install_command(extra: str) -> str:
    """
    Return the command that adds *extra* to this installation.

    The bare name is right only for an installation from a package index: for one from a folder, a
    file or a repository, pip could fetch another project's package of the same name.
    """
    return f"pip install {_requirement(extra, _origin())}"


def _origin() -> dict[str, Any]:
    """Return where pip got this package from (``direct_url.json``); ``{}`` for an index."""
    from importlib.metadata import Distribution, PackageNotFoundError

    try:
        text = Distribution.from_name(PACKAGE).read_text("direct_url.json")
    except PackageNotFoundError:
        text = None
    found = json.loads(text) if text else {}
    return found if isinstance(found, dict) else {}


def _requirement(extra: str, origin: dict[str, Any]) -> str:
    """
    Return the argument of pip for *extra*.

    >>> _requirement("redis", {})
    '"recollect[redis]"'
    >>> _requirement("redis", {"url": "file:///src/recollect", "dir_info": {"editable": True}})
    '-e "/src/recollect[redis]"'
    >>> git = {"vcs": "git", "commit_id": "e2fd190"}
    >>> _requirement("redis", {"url": "https://example.org/recollect", "vcs_info": git})
    '"recollect[redis] @ git+https://example.org/recollect@e2fd190"'
    """
    url = str(origin.get("url", ""))
    if "dir_info" in origin:
        editable = "-e " if origin["dir_info"].get("editable") else ""
        return f'{editable}"{Path(unquote(urlsplit(url).path))}[{extra}]"'
    if "vcs_info" in origin:
        vcs = origin["vcs_info"]
        url = f"{vcs['vcs']}+{url}@{vcs['commit_id']}"
    return f'"{PACKAGE}[{extra}] @ {url}"' if url else f'"{PACKAGE}[{extra}]"'
