"""Running the service: one uvicorn server on one socket, which stops well."""

from __future__ import annotations

import logging
import socket
import sys
from types import FrameType
from typing import Any, Final, TextIO, cast

import uvicorn
from fastapi import FastAPI

from recollect.errors import UsageError
from recollect.observability.logs import package_logger
from recollect.server.http.http11 import protocol_of
from recollect.server.http.request_log import JsonLines
from recollect.server.settings import Settings

_KEEP_ALIVE_S: Final = 30
_BACKLOG: Final = 256


class GracefulServer(uvicorn.Server):
    """
    A server that ends open streams when it is told to stop, before it waits for requests.

    Its application can see how many connections are open.
    """

    def __init__(self, config: uvicorn.Config, app: FastAPI) -> None:
        super().__init__(config)
        self._app = app
        app.state.connections = self.server_state.connections

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Begin to stop; a second signal ends it at once."""
        self._app.state.stopping.set()
        super().handle_exit(sig, frame)
        self._captured_signals.clear()  # it would raise them again at the end, and die of them


def bound_socket(settings: Settings) -> socket.socket:
    """
    Return a socket that listens at the address of the settings; port 0 is any that is free.

    Raises:
        UsageError: The address cannot be had.
    """
    try:
        (family, kind, protocol, _, address), *_ = socket.getaddrinfo(
            settings.host, settings.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )
        found = socket.socket(family, kind, protocol)
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        found.bind(address)
    except OSError as error:
        msg = (
            f"{settings.host}:{settings.port} cannot be listened at: {error.strerror or error}: "
            "give another --host or --port"
        )
        raise UsageError(msg) from error
    found.listen(_BACKLOG)
    return found


def server_of(app: FastAPI, settings: Settings) -> GracefulServer:
    """Return a server for the application; run it with a `bound_socket`."""
    config = uvicorn.Config(
        app,
        http=cast("Any", protocol_of(settings)),
        ws="none",
        loop="auto",  # uvloop, but on Windows, where it does not run
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
    Serve the application on a `bound_socket` until it is told to stop.

    Raises:
        RecollectError: The memory could not be opened; nothing was served.
    """
    log = logging.getLogger("uvicorn.error")
    # Such an error is one sentence for who started it, not a traceback in the log.
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
    """Passes what is logged unless the application refused to start."""

    def __init__(self, app: FastAPI) -> None:
        super().__init__()
        self._app = app

    def filter(self, record: logging.LogRecord) -> bool:
        return self._app.state.refusal is None


def url_of(listening: socket.socket) -> str:
    """Return the address at which a socket can be asked."""
    host, port = listening.getsockname()[:2]
    shown = f"[{host}]" if ":" in host else host
    return f"http://{shown}:{port}"


def log_to(stream: TextIO | None = None, *, level: str = "info") -> None:
    """
    Write the service's log as JSON lines; what libraries log below a warning is left out.

    Nothing is collected for a line that it does not show (Python's logging HOWTO, Optimization).
    """
    logging.logThreads = logging.logProcesses = logging.logMultiprocessing = False
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(JsonLines())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.WARNING)
    package_logger("recollect").setLevel(level.upper())
