"""A pipeline that sends several statements in one system call."""

from __future__ import annotations

import psycopg
from psycopg.abc import PQGen


class WholePipeline(psycopg.Pipeline):
    """
    A pipeline that sends its statements when the block ends.

    psycopg's pipeline sends each statement as it comes, which costs a system call and wakes the
    server each time. Results are available only after the block.
    """

    _is_left = False

    def _communicate_gen(self) -> PQGen[None]:
        if self._is_left:
            yield from super()._communicate_gen()

    def _exit_gen(self) -> PQGen[None]:
        self._is_left = True
        yield from super()._exit_gen()
