"""Run the service for `recollect serve` and `recollect demo --serve`, and open its page."""

from __future__ import annotations

import gc
import os
import sys
import threading
from collections.abc import Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Final

import click

from recollect.cli.formation_config import FormationOptions
from recollect.cli.memory_choice import opened_model, opened_to_form
from recollect.cli.options import Target
from recollect.cli.output import note
from recollect.cli.scope_hints import EMPTY_STORE, read_hint
from recollect.cli.store_choice import make_folder, without_password
from recollect.errors import MissingExtraError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from recollect.memory.facade import Recollect
    from recollect.ports import Model
    from recollect.records import Scope
    from recollect.server.http.mounts import Door
    from recollect.server.http.prometheus import Metrics
    from recollect.server.settings import Settings
    from recollect.worker.formation_result import FormationResult


GARBAGE_OBJECTS: Final = 10_000
"""Threshold of the garbage collector, high because a request leaves almost no cycles."""
BUILD_PAGE: Final = (
    "install Node 20 or newer with npm, then run `make page` in the project, or `pip install .` "
    "again"
)
NO_PAGE: Final = f"the page is not built, everything else works: {BUILD_PAGE}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceRun:
    """The options of a run of the service."""

    target: Target
    forming: FormationOptions
    settings: Settings
    worker: bool = True
    log_level: str = "info"
    opens_page: bool = False
    """Whether the page is opened, already signed in."""
    tells_key: bool = True
    """Whether a first key is printed."""
    is_temporary: bool = False
    """Whether the store is removed when the service stops."""


def check_service_packages() -> None:
    """
    Check that the packages of the extra ``service`` are installed.

    Raises:
        MissingExtraError: One is missing.
    """
    for name in ("fastapi", "httptools", "platformdirs", "prometheus_client", "uvicorn"):
        if find_spec(name) is None:
            raise MissingExtraError("service", name)


def run_service(run: ServiceRun) -> None:
    """
    Serve until a signal stops the process.

    Raises:
        RecollectError: The memory could not be opened.
    """
    gc.disable()  # the imports make many objects and hardly any garbage
    try:
        _serve(run)
    finally:
        gc.enable()


def _serve(run: ServiceRun) -> None:
    from recollect.server.http.application import create_app
    from recollect.server.http.process import bound_socket, log_to_stderr, run_server, url_of
    from recollect.server.http.prometheus import Metrics
    from recollect.server.http.static_page import STATIC, is_built

    model, metrics = opened_model(run.forming), Metrics()

    def tell_key(key: str) -> None:
        if run.tells_key:
            click.echo(f"first key, shown this once: {key}")

    def tell_ready() -> None:
        # Not before: a scope that no key is bound to is refused once the store is open.
        note(f"serving {without_password(run.target.store)} at {url}")
        if not is_built(STATIC):
            note(NO_PAGE)

    # Bound before the memory is opened: a taken port fails at once, and port 0 becomes a number.
    with bound_socket(run.settings) as listening:
        url = url_of(listening)
        app = create_app(
            run.settings,
            lambda: _opened_memory(run, model, metrics),
            assistants=run.forming.assistants,
            model=model,
            tell_key=tell_key,
            tell_page_key=(lambda key: _open_page(url, key)) if run.opens_page else None,
            tell_ready=tell_ready,
            metrics=metrics,
            doors=_doors(run.settings),
            is_temporary=run.is_temporary,
        )
        log_to_stderr(level=run.log_level)
        gc.collect()
        gc.freeze()  # collections during requests skip the imported modules
        gc.set_threshold(GARBAGE_OBJECTS)
        gc.enable()
        run_server(app, run.settings, listening)


@asynccontextmanager
async def _opened_memory(
    run: ServiceRun, model: Model | None, metrics: Metrics
) -> AsyncIterator[Recollect]:
    """Open the memory of the service, and print what is missing in it."""
    from recollect.server.settings import NO_MODEL

    def count(_: Scope, result: FormationResult) -> None:
        metrics.formations.labels(result.end).inc()

    make_folder(run.target.store)
    async with opened_to_form(
        run.target, run.forming, model, create=True, worker=run.worker, notice=count
    ) as memory:
        if hint := await _scope_hint(memory, run.settings):
            note(hint)
        if memory.lacks_model:
            note(NO_MODEL)
        yield memory


async def _scope_hint(memory: Recollect, settings: Settings) -> str:
    """Return a hint if the scope that callers get by default is empty."""
    from recollect.server.api_keys import Keys
    from recollect.server.first_key import DEFAULT_SCOPE, first_scope, read_common_scope

    if settings.auth and await Keys(memory.store).all():
        return ""
    common = await read_common_scope(memory.store) if settings.auth else DEFAULT_SCOPE
    hint = await read_hint(memory, first_scope(settings.scope, common), below=True)
    return "" if hint == EMPTY_STORE else hint


def _open_page(service: str, key: str) -> None:
    """Print the address of the page, and open it if there is a display."""
    from recollect.server.http.static_page import STATIC, is_built

    if not is_built(STATIC):
        return
    url = page_url(service, key)
    click.echo(f"the page, signed in until this ends: {url}\n")
    if has_display(os.environ, sys.platform):
        open_browser(url)


def _doors(settings: Settings) -> list[Door]:
    """Return the MCP server at /mcp, if its package is installed."""
    if find_spec("mcp") is None:
        return []
    from recollect.server.http.mounts import late_door

    def door() -> Door:
        from recollect.server.mcp.streamable_http import mcp_door

        return mcp_door(settings)

    return [late_door("/mcp", door)]


def has_display(environment: Mapping[str, str], platform: str) -> bool:
    """
    Return True if a graphical browser can open here.

    Without a display, the standard library would start a text browser in the terminal.

    >>> has_display({"DISPLAY": ":0"}, "linux"), has_display({}, "linux")
    (True, False)
    >>> has_display({}, "darwin"), has_display({"SSH_CONNECTION": "10.0.0.7"}, "darwin")
    (True, False)
    """
    if platform.startswith("linux"):
        return bool(environment.get("DISPLAY") or environment.get("WAYLAND_DISPLAY"))
    # macOS and Windows have no such variable, but a window would open on the remote machine.
    return "SSH_CONNECTION" not in environment


def page_url(service: str, key: str) -> str:
    """
    Return the address that signs a tab in. The key is in the fragment, which is never sent.

    >>> page_url("http://127.0.0.1:8300", "rk_1"), page_url("http://127.0.0.1:8300", "")
    ('http://127.0.0.1:8300/#key=rk_1', 'http://127.0.0.1:8300/')
    """
    return f"{service}/#key={key}" if key else f"{service}/"


def open_browser(url: str) -> None:
    """Open *url* in a thread, because some browsers return only when they are closed."""
    import webbrowser

    threading.Thread(target=webbrowser.open, args=(url,), daemon=True).start()
