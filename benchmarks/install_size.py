"""Disk usage of an installation, by package, with the embedder and without."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib import metadata
from importlib.util import cache_from_source
from pathlib import Path
from typing import Final

import recollect
from recollect.embedders.minilm_install import IDENTITY, cache_folder, folder

OURS: Final = "recollect"
EMBEDDER_EXTRA: Final = "minilm"
_NAME: Final = re.compile(r"[A-Za-z0-9._-]+")
_EXTRA: Final = re.compile(r"""extra\s*==\s*['"]([^'"]+)['"]""")


@dataclass(frozen=True, slots=True, kw_only=True)
class PackageSize:
    """A package, or the weights, and the size of its files."""

    name: str
    version: str
    bytes: int
    is_for_embedder: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class SizeReport:
    """The installed packages, largest first."""

    parts: tuple[PackageSize, ...]

    @property
    def total_bytes(self) -> int:
        """Total size."""
        return sum(part.bytes for part in self.parts)

    @property
    def control_bytes(self) -> int:
        """Total size without the embedder."""
        return sum(part.bytes for part in self.parts if not part.is_for_embedder)

    def as_json(self) -> dict[str, object]:
        """Return it as a JSON object."""
        parts = [
            {
                "name": part.name,
                "version": part.version,
                "bytes": part.bytes,
                "for_embedder": part.is_for_embedder,
            }
            for part in self.parts
        ]
        return {
            "parts": parts,
            "total_bytes": self.total_bytes,
            "without_embedder_bytes": self.control_bytes,
        }


def measure() -> SizeReport:
    """
    Measure each required distribution, and the weights of the embedder.

    What is needed follows from the metadata of what is installed. A requirement that holds for
    other platforms or Pythons only counts where it is installed all the same.

    Raises:
        EmbedderError: The user has no home folder.
    """
    core = needed_by(OURS)
    whole = needed_by(OURS, EMBEDDER_EXTRA)
    parts = [
        PackageSize(
            name=name,
            version=metadata.version(name),
            bytes=_ours_bytes() if name == OURS else distribution_bytes(name),
            is_for_embedder=name not in core,
        )
        for name in whole
    ]
    weights = _weights()
    parts += [weights] if weights else []
    return SizeReport(parts=tuple(sorted(parts, key=lambda part: (-part.bytes, part.name))))


def needed_by(name: str, extra: str = "") -> frozenset[str]:
    """Return *name* and all its installed dependencies."""
    found = {name}
    waiting = [(name, extra)]
    while waiting:
        for each in _requirements(*waiting.pop()):
            if each not in found and _is_installed(each):
                found.add(each)
                waiting.append((each, ""))
    return frozenset(found)


def _requirements(name: str, extra: str) -> Iterator[str]:
    """Yield the normalised names of a distribution's requirements, with *extra*."""
    for line in metadata.requires(name) or ():
        requirement, _, marker = line.partition(";")
        asked = _EXTRA.search(marker)
        match = _NAME.match(requirement)
        if match and (asked is None or asked[1] == extra):
            yield re.sub(r"[-_.]+", "-", match[0]).lower()


def _is_installed(name: str) -> bool:
    try:
        metadata.distribution(name)
    except metadata.PackageNotFoundError:
        return False
    return True


def distribution_bytes(name: str) -> int:
    """Return the size of a distribution's files, with compiled bytecode."""
    distribution = metadata.distribution(name)
    return _sum_bytes(
        Path(str(distribution.locate_file(each))) for each in distribution.files or ()
    )


def _ours_bytes() -> int:
    """Return the size of this package, even in a source tree."""
    return _sum_bytes(Path(recollect.__file__).parent.rglob("*"))


def _weights() -> PackageSize | None:
    place = folder(cache_folder())
    if not place.is_dir():
        return None
    name, _, version = IDENTITY.partition("/")
    return PackageSize(
        name=f"weights of {name}",
        version=version,
        bytes=_sum_bytes(place.rglob("*")),
        is_for_embedder=True,
    )


def _sum_bytes(paths: Iterable[Path]) -> int:
    """Sum the sizes of distinct files and of their bytecode for this Python."""
    listed = {path.resolve() for path in paths}
    compiled = {Path(cache_from_source(str(path))) for path in listed if path.suffix == ".py"}
    return sum(path.stat().st_size for path in listed | compiled if path.is_file())
