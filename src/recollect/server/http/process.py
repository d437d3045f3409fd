"""Run the service: one uvicorn server on one socket, with a graceful shutdown."""

from __future__ import annotations

import logging
import socket
from types import FrameType
from typing import Final

import uvicorn
from fastapi import FastAPI

from recollect.errors import UsageError
from recollect.observability.logs import package_logger
from recollect.server.http.http11 import protocol_of
from recollect.server.http.request_log import JsonLines, TurnHandler
from recollect.server.settings import Settings

_KEEP_ALIVE_S: Final = 30
_BACKLOG: Final = 256


class GracefulServer(uvicorn.Server):
    """
    A server that ends open streams at shutdown, before it waits for open requests.

    It shares its set of connections with the application, which limits them.
    """

    def __init__(self, config: uvicorn.Config, app: FastAPI) -> None:
        super().__init__(config)
        self._app = app
        app.state.connections = self.server_state.connections

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Begin the shutdown; a second signal forces it."""
        self._app.state.stopping.set()
        super().handle_exit(sig, frame)
        # uvicorn raises captured signals again at the end, which would kill the process.
        self._captured_signals.clear()


def bound_socket(settings: Settings) -> socket.socket:
    """
    Return a listening socket at the address of the settings; port 0 chooses a free one.

    Raises:
        UsageError: The address cannot be bound.
    """
    try:
        (family, kind, protocol, _, address), *_ = socket.getaddrinfo(
            settings.host, settings.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )
        found = socket.socket(family, kind, protocol)
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        found.bind(address)
    except OSError as error:
        raise UsageError(
            f"cannot listen at {settings.host}:{settings.port}: {error.strerror or error}: "
            "give another --host or --port"
        ) from error
    found.listen(_BACKLOG)
    return found


def server_of(app: FastAPI, settings: Settings) -> GracefulServer:
    """Return a server for the application; run it with a `bound_socket`."""
    config = uvicorn.Config(
        app,
        http=protocol_of(settings),
        ws="none",
        loop="auto",  # uvloop, which does not run on Windows
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=_KEEP_ALIVE_S,
        timeout_graceful_shutdown=max(1, round(settings.grace_s)),
    )
    return GracefulServer(config, app)


def run_server(app: FastAPI, settings: Settings, listening: socket.socket) -> None:
    """
    Serve the application on a `bound_socket` until a signal stops it.

    Raises:
        RecollectError: The memory could not be opened; nothing was served.
    """
    log = logging.getLogger("uvicorn.error")
    # The caller reports such an error in one sentence: keep uvicorn's traceback out of the log.
    quiet = _Unless(app)
    log.addFilter(quiet)
    try:
        server_of(app, settings).run(sockets=[listening])
    except SystemExit:
        if app.state.refusal is None:
            raise
        raise app.state.refusal from None
    finally:
        log.removeFilter(quiet)


class _Unless(logging.Filter):
    """A log filter that drops every record once the application has refused to start."""

    def __init__(self, app: FastAPI) -> None:
        super().__init__()
        self._app = app

    def filter(self, record: logging.LogRecord) -> bool:
        return self._app.state.refusal is None


def url_of(listening: socket.socket) -> str:
    """Return the URL of a listening socket."""
    host, port = listening.getsockname()[:2]
    shown = f"[{host}]" if ":" in host else host
    return f"http://{shown}:{port}"


def log_to_stderr(*, level: str = "info") -> None:
    """Write the service's log as JSON lines, and of other libraries only warnings and errors."""
    # The lines show no thread, process or place: do not collect them (logging HOWTO, Optimization).
    logging.logThreads = logging.logProcesses = logging.logMultiprocessing = False
    logging._srcfile = None  # noqa: SLF001 (the documentation says to)
    handler = TurnHandler()
    handler.setFormatter(JsonLines())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.WARNING)
    package_logger("recollect").setLevel(level.upper())
