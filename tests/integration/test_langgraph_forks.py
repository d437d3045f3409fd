"""Checkpoints and forks: a child uses no connection, and opens no file, of its parent."""

import subprocess
from pathlib import Path
from typing import Final

import pytest

from recollect.integrations.langgraph import checkpointer
from tests.harness import forked_programs
from tests.harness.installed_servers import require_database

REFUSED: Final = "open one after the fork"


def run_forked(
    child: str, place: str, *, before: str = "memory:"
) -> subprocess.CompletedProcess[str]:
    """
    Save a checkpoint, fork, do *child* in the block that is open, and go on in the parent.

    The parent opens and closes the checkpoints at *before* first.
    """
    opened = f"""
from langgraph.checkpoint.base import empty_checkpoint
from recollect.errors import StoreClosedError
from recollect.integrations.langgraph import checkpointer
PLACE = {{"configurable": {{"thread_id": "acme//t", "checkpoint_ns": ""}}}}
def put(saver):
    saver.put(PLACE, empty_checkpoint(), {{}}, {{}})
def count(saver):
    return len(list(saver.list(PLACE)))
with checkpointer({before!r}):
    pass
with checkpointer({place!r}) as saver:
    saver.delete_thread("acme//t")
    put(saver)
"""
    return forked_programs.run_forked(
        opened, child, 'put(saver)\nprint("child", ended, "parent", count(saver))'
    )


@pytest.fixture(params=["memory", "sqlite", "postgres"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Return the address of each store beside which checkpoints can be kept."""
    if request.param == "postgres":
        return require_database("forked_checkpoints")
    return "memory:" if request.param == "memory" else str(tmp_path / "memory.db")


@pytest.mark.parametrize("call", ["put(saver)", "count(saver)", "saver.prune(['acme//t'])"])
def test_a_saver_is_refused_after_a_fork(place: str, call: str) -> None:
    """In the child, which would write to the parent's sockets or rely on its locks."""
    found = run_forked(
        f"""
        try:
            {call}
        except StoreClosedError as error:
            os._exit(7 if {REFUSED!r} in str(error) else 2)
        os._exit(1)
        """,
        place,
    )

    assert (found.stdout, found.stderr.splitlines()[-1:]) == ("child 7 parent 2\n", [])


def test_a_child_that_leaves_the_block_closes_nothing(place: str) -> None:
    """The connections belong to its parent, which goes on with them."""
    found = run_forked("sys.exit(7)", place)

    assert (found.stdout, found.stderr) == ("child 7 parent 2\n", "")


def test_a_child_opens_no_checkpoints_that_its_parent_has_open(tmp_path: Path) -> None:
    """When the parent closed the file, it would delete the log with what the child wrote."""
    place = str(tmp_path / "memory.db")
    found = run_forked(
        f"""
        try:
            with checkpointer({place!r}) as own:
                put(own)
        except StoreClosedError as error:
            os._exit(7 if "open the file after the fork" in str(error) else 2)
        os._exit(1)
        """,
        place,
    )

    assert (found.stdout, found.stderr) == ("child 7 parent 2\n", "")


def test_a_child_opens_other_checkpoints(tmp_path: Path) -> None:
    """Also those that its parent had open, and closed before the fork."""
    place, other = (str(tmp_path / name) for name in ("memory.db", "other.db"))
    found = run_forked(
        f"""
        with checkpointer({other!r}) as own:
            put(own)
        os._exit(7)
        """,
        place,
        before=other,
    )

    assert (found.stdout, found.stderr) == ("child 7 parent 2\n", "")
    with checkpointer(other) as saver:
        assert 1 == len(list(saver.list({"configurable": {"thread_id": "acme//t"}})))
