"""Run a real service on loopback, in a thread, for tests."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from fastapi import FastAPI

import recollect
from recollect.formation.config import Assistants
from recollect.memory.facade import Recollect
from recollect.ports import Model
from recollect.records import Scope
from recollect.server.http.application import create_app
from recollect.server.http.mounts import Door
from recollect.server.http.process import bound_socket, server_of, url_of
from recollect.server.http.service import Service
from recollect.server.http.static_page import STATIC
from recollect.server.settings import Settings

START_S_MAX: Final = 60.0
ROOT_SCOPE: Final[Scope] = ("acme",)


class ServingError(RuntimeError):
    """The service did not start or stop in time."""


@dataclass(frozen=True, kw_only=True)
class Served:
    """A running service and its first key, which has all permissions on `ROOT_SCOPE`."""

    url: str
    key: str
    app: FastAPI

    @property
    def service(self) -> Service:
        """The running service."""
        service: Service = self.app.state.service
        return service


@contextmanager
def serving(
    open_memory: Callable[[], AbstractAsyncContextManager[Recollect]] | None = None,
    *,
    store: str = "memory:",
    model: Model | None = None,
    assistants: Assistants | None = None,
    static: Path = STATIC,
    doors: Callable[[Settings], Sequence[Door]] = lambda _: (),
    **settings: Any,
) -> Iterator[Served]:
    """
    Run a service over the memory at *store*, on a free port, until the block ends.

    Its rate limits are too high to matter, unless *settings* sets others.

    Raises:
        ServingError: It did not start or stop within ``START_S_MAX``.
    """
    keys: list[str] = []
    unhindered = Settings(port=0, scope=ROOT_SCOPE, requests_a_second=1e6, burst=10**6)
    chosen = replace(unhindered, **settings)

    def opened() -> AbstractAsyncContextManager[Recollect]:
        return recollect.open(
            store, embedder="none", model=model, formation=assistants, worker=False
        )

    app = create_app(
        chosen,
        open_memory or opened,
        model=model,
        assistants=assistants,
        tell_key=keys.append,
        static=static,
        doors=doors(chosen),
    )
    with bound_socket(chosen) as listening:
        server = server_of(app, chosen)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
        thread.start()
        try:
            # Do not wait for a thread that has died.
            _wait(lambda: server.started or not thread.is_alive())
            yield Served(url=url_of(listening), key=keys[0] if keys else "", app=app)
        finally:
            server.should_exit = True
            app.state.stopping.set()
            thread.join(START_S_MAX)
    if thread.is_alive():
        raise ServingError(f"the service did not end within {START_S_MAX:g} s")


def _wait(is_so: Callable[[], object]) -> None:
    end = time.monotonic() + START_S_MAX
    while not is_so():
        if time.monotonic() > end:
            raise ServingError(f"the service did not start within {START_S_MAX:g} s")
        time.sleep(0.01)
