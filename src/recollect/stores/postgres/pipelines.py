"""Send several statements at once."""

from __future__ import annotations

import psycopg
from psycopg.abc import PQGen


class WholePipeline(psycopg.Pipeline):
    """
    A pipeline that sends what it holds when it is left.

    The driver's own sends each statement by itself, as it comes: each is a call of the system, and
    wakes the server for a little work. Results are only there once the pipeline was left.
    """

    _is_left = False

    def _communicate_gen(self) -> PQGen[None]:
        if self._is_left:
            yield from super()._communicate_gen()

    def _exit_gen(self) -> PQGen[None]:
        self._is_left = True
        yield from super()._exit_gen()
