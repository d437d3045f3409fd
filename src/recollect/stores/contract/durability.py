"""Durability levels: which failures an acknowledged write survives."""

from __future__ import annotations

from typing import Literal, TypeAlias

Durability: TypeAlias = Literal["full", "relaxed"]
"""
``"full"``: writes survive a power loss. The log is on the disk before a call returns.

``"relaxed"``: writes survive a crash of the process, but not of the machine. A power loss or a
crash of the operating system loses every write acknowledged since the last checkpoint of the log:
some megabytes of changes at most, made in the last second or, on a quiet store, in the last days.
The file stays intact. In return, a write does not wait for the disk.
"""
