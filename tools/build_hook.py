"""
What a wheel must carry: a release without the page is not built.

An install from source needs no Node: it takes the page along where it was built (`make page`),
and says at `/` how to build it where it was not. With RECOLLECT_RELEASE=1, as `make wheel` sets
it, the page must be there, whole.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any, Final

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

STATIC: Final = Path("src/recollect/server/static")
INDEX: Final = "index.html"
RELEASE: Final = "RECOLLECT_RELEASE"
_NAMED: Final = re.compile(r"""(?:src|href)="\./([^"]+)\"""")


class PageMissingError(Exception):
    """The page that a release carries is not there, or not whole."""


def missing_of(page: Path) -> list[str]:
    """Return the files of a built page that are not there: its index, or what that names."""
    index = page / INDEX
    if not index.is_file():
        return [INDEX]
    named = _NAMED.findall(index.read_text("utf-8"))
    scripts = [name for name in named if name.endswith(".js")]
    absent = [name for name in named if not (page / name).is_file()]
    return absent if scripts else [*absent, "assets/*.js"]


class CustomBuildHook(BuildHookInterface):  # type: ignore[type-arg]
    """Looks before a wheel is built."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Refuse a release wheel without the page; anything else is built as it is."""
        if version == "editable" or os.environ.get(RELEASE) != "1":
            return
        missing = missing_of(Path(self.root) / STATIC)
        if missing:
            named = ", ".join(repr(name) for name in missing)
            msg = (
                f"a release carries the page, and {STATIC} lacks {named}: run `make page` (it "
                f"needs Node), or build without {RELEASE}=1 for a wheel that has none"
            )
            raise PageMissingError(msg)
