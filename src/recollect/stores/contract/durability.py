"""Durability levels of an acknowledged write."""

from __future__ import annotations

from typing import Literal, TypeAlias

Durability: TypeAlias = Literal["full", "relaxed"]
"""
``"full"``: everything, power loss included; the log is on the disk before a call returns.

``"relaxed"``: the death of the process, but not of the machine. A power loss or a crash of
the system loses every write acknowledged since the log was last carried over into the file:
up to some megabytes of changes, be they of the last second or, on a quiet store, of the
last days. The file stays whole. In return a write costs no wait for the disk.
"""
