"""Programs in processes of their own that fork: what a child may do with what its parent opened."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Final

import recollect

CHILD_S_MAX: Final = 30
"""A child that takes longer hangs, and is ended."""


def run_program(program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a program of Python, which finds the package as it is tested."""
    return subprocess.run(
        # Newer Pythons warn of forks beside threads, which is what this is about.
        [sys.executable, "-W", "ignore::DeprecationWarning", "-c", program, *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={"PYTHONPATH": str(Path(recollect.__file__).parents[1])},
    )


def run_forked(opened: str, child: str, parent: str) -> subprocess.CompletedProcess[str]:
    """
    Run a program that forks within a block, and does *child* in the child.

    Args:
        opened: The program up to the fork; its last line is in the block that is open.
        child: What the child does there.
        parent: What the parent does when the child, whose status is ``ended``, is over.
    """
    return run_program(
        f"""
import os, signal, sys
{textwrap.dedent(opened).strip()}
    pid = os.fork()
    if not pid:
        signal.alarm({CHILD_S_MAX})
{textwrap.indent(textwrap.dedent(child), "        ")}
    ended = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
{textwrap.indent(textwrap.dedent(parent), "    ")}
"""
    )
