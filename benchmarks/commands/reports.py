"""Shared parts of the benchmark commands: report files and vector caches."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

import click

from recollect.errors import MissingExtraError, UsageError

if TYPE_CHECKING:
    from benchmarks.cached_embedder import CachedEmbedder

Command = Callable[..., None]
_EXTRAS: Final = {"psycopg": "postgres", "redis": "redis"}


class BenchmarkReport(Protocol):
    """The result of a benchmark."""

    def as_json(self) -> dict[str, object]:
        """Return it as a JSON object."""
        ...


@contextmanager
def drivers_named() -> Iterator[None]:
    """
    Import store drivers inside this block: a missing one is reported with its extra.

    Raises:
        MissingExtraError: The driver is not installed.
    """
    try:
        yield
    except ImportError as error:
        if error.name not in _EXTRAS:
            raise
        raise MissingExtraError(_EXTRAS[error.name], error.name) from error


def report_option() -> Callable[[Command], Command]:
    """Return the option that writes a report as JSON."""
    return click.option("--json", "json_file", metavar="FILE", help="Write the report there.")


def cached(choice: str, folder: Path) -> CachedEmbedder | None:
    """Return the embedder that *choice* names, with its vectors cached in *folder*."""
    from benchmarks.cached_embedder import CachedEmbedder
    from recollect.embedders import open_embedder

    embedder = open_embedder(choice)
    return CachedEmbedder(embedder, folder) if embedder else None


def write_report_file(file: str | None, write: Callable[[Path], object]) -> None:
    """
    Call *write* with *file*, if a file is given.

    Raises:
        UsageError: The file cannot be written.
    """
    if file is None:
        return
    try:
        write(Path(file))
    except OSError as error:
        msg = f"{file!r} cannot be written: {error.strerror}"
        raise UsageError(msg) from error


def write_json(path: Path, report: BenchmarkReport) -> None:
    """Write *report* as one JSON object."""
    text = json.dumps(report.as_json(), ensure_ascii=False, indent=2)
    path.write_text(text + "\n", encoding="utf-8")
