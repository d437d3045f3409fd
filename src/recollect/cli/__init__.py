"""The command line: each command reads its arguments, calls the library, and prints."""

from __future__ import annotations

from recollect.cli.program import main

__all__ = ("main",)
