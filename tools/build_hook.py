"""
Put the page into every wheel: take it along where it is built, build it where Node is there.

Without Node a wheel is built all the same, and one sentence says what to do; the service says it
again at its start. With RECOLLECT_RELEASE=1, as `make wheel` sets it, the page must be there,
whole. `python tools/build_hook.py` builds the page alone.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

STATIC: Final = Path("src/recollect/server/static")
WEB: Final = Path("web")
INDEX: Final = "index.html"
RELEASE: Final = "RECOLLECT_RELEASE"
NPM_S_MAX: Final = 300.0
"""So long npm may take to fetch what builds the page, and again to build it."""
REMEDY: Final = (
    "install Node 20 or newer with npm, then run `make page`, or install again; everything else "
    "works without the page"
)
KEPT: Final = "node_modules/.tools"
"""`make page` leaves this file beside what it fetches."""
_NAMED: Final = re.compile(r"""(?:src|href)="\./([^"]+)\"""")
_MADE: Final = frozenset({"node_modules", "story", "tests"})
"""The folders of web/ that the page is not built from."""


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


def sources_of(web: Path) -> Iterator[Path]:
    """Yield the files that the page is built from."""
    for path in web.iterdir():
        if path.is_file():
            yield path
        elif path.name not in _MADE:
            yield from (each for each in path.rglob("*") if each.is_file())


def is_current(page: Path, web: Path) -> bool:
    """Return True if the built page is whole, and no older than what it is built from."""
    if missing_of(page):
        return False
    built_at = (page / INDEX).stat().st_mtime
    return all(each.stat().st_mtime <= built_at for each in sources_of(web))


def build_page(root: Path) -> str:
    """
    Build the page of the project at *root*, unless it is current.

    What builds it is fetched exactly as the lock names it, and removed afterwards, unless
    `make page` has put it there to stay.

    Returns:
        Why it could not be built, "" if it could, or need not.
    """
    web = root / WEB
    if not web.is_dir() or is_current(root / STATIC, web):
        return ""
    npm = shutil.which("npm")
    if npm is None:
        return "there is no npm"
    is_kept = (web / KEPT).is_file()
    try:
        if not is_kept:
            _run(npm, web, "ci", "--omit=dev", "--no-audit", "--no-fund")
        _run(npm, web, "run", "bundle")
    except subprocess.CalledProcessError as error:
        lines = (error.stderr or error.stdout or "").strip().splitlines()
        return f"npm failed: {lines[-1] if lines else error}"
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"npm failed: {error}"
    finally:
        if not is_kept:
            shutil.rmtree(web / "node_modules", ignore_errors=True)
    return ""


def _run(npm: str, web: Path, *arguments: str) -> None:
    subprocess.run(  # noqa: S603 (the npm that is installed, on our own lock)
        [npm, "--prefix", str(web), *arguments],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=NPM_S_MAX,
        check=True,
    )


class CustomBuildHook(BuildHookInterface):  # type: ignore[type-arg]
    """Looks before a wheel is built."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build the page if that can be; without it refuse a release, and warn for another."""
        if version == "editable":
            return
        root = Path(self.root)
        reason = build_page(root)
        missing = missing_of(root / STATIC)
        if missing and os.environ.get(RELEASE) == "1":
            named = ", ".join(repr(name) for name in missing)
            msg = (
                f"a release carries the page, and {STATIC} lacks {named}: run `make page` (it "
                f"needs Node), or build without {RELEASE}=1 for a wheel that has none"
            )
            raise PageMissingError(msg)
        if reason or missing:
            self.app.display_warning(f"the page is not built ({reason or 'no source'}): {REMEDY}")


if __name__ == "__main__":
    failure = build_page(Path(__file__).parents[1])
    if failure:
        sys.exit(f"the page is not built ({failure}): {REMEDY}")
