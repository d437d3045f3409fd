"""Options that commands share: store, scope, embedder and output format."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime
from functools import wraps
from inspect import isawaitable
from pathlib import Path
from typing import Any, Final, TypeVar

import click

from recollect.errors import UsageError
from recollect.records import Scope
from recollect.text.scope_paths import ESCAPED
from recollect.text.time_zones import with_zone

ResultT = TypeVar("ResultT")

DEFAULT_STORE: Final = "./recollect.db"
DEFAULT_SCOPE: Final = "default"
DEFAULT_EMBEDDER: Final = "auto"
_STORE: Final = "A file, as a path or sqlite: URL, or memory:."


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """The store and scope of a command, and its output format."""

    store: str
    scope: Scope
    embedder: str
    rerank: str | None = None
    index_files: bool = True
    replicas: tuple[str, ...] = ()
    is_json: bool


Command = Callable[..., Any]
"""A command; `memory_options` runs an ``async`` one."""
Option = Callable[[Command], Command]


def run(command: Callable[[], Awaitable[ResultT]]) -> ResultT:
    """Run an async command."""
    # Imports inside functions keep `recollect --help` fast.
    import anyio

    return anyio.run(command)


def memory_options(
    *, embedder: bool = True, scope: bool = True, store: Option | None = None
) -> Option:
    """Add the shared options to a command, as its `Target`; *store* replaces the store option."""

    def decorate(command: Command) -> Command:
        @wraps(command)
        def with_target(*arguments: Any, **options: Any) -> None:
            target = Target(
                store=options.pop("store"),
                scope=scope_from(options.pop("scope", None), options.pop("segment", ())),
                embedder=options.pop("embedder", "none"),
                rerank=options.pop("rerank", None),
                index_files=options.pop("index_files", True),
                replicas=options.pop("replicas", ()),
                is_json=wants_json(options.pop("as_json")),
            )
            done = command(target, *arguments, **options)
            if isawaitable(done):
                run(lambda: done)

        decorated: Command = with_target
        named = store or store_option(_STORE)
        for option in reversed([named, *_options(embedder=embedder, scope=scope)]):
            decorated = option(decorated)
        return decorated

    return decorate


def _options(*, embedder: bool, scope: bool) -> list[Option]:
    found = _scope_options() if scope else []
    if embedder:
        found += [embedder_option(), rerank_option(), index_files_option()]
    return [*found, json_option()]


def store_option(
    about: str, *, default: str | Callable[[], str] = DEFAULT_STORE, shown: str | None = None
) -> Option:
    """Return the option that names the store; *shown* describes a computed *default*."""
    return click.option(
        "--store",
        metavar="URL",
        envvar="RECOLLECT_STORE",
        default=default,
        show_default=shown or True,
        help=f"{about}  [env: RECOLLECT_STORE]",
    )


def _scope_options() -> list[Option]:
    return [
        click.option(
            "--scope",
            metavar="A/B/C",
            envvar="RECOLLECT_SCOPE",
            help=(
                "Whose memory: segments separated by '/', with %2F for a slash inside one."
                f"  [env: RECOLLECT_SCOPE; default: {DEFAULT_SCOPE}]"
            ),
        ),
        click.option(
            "--segment",
            metavar="TEXT",
            multiple=True,
            help="One more segment below --scope, taken literally; repeatable.",
        ),
    ]


def embedder_option() -> Option:
    """Return the option that chooses the embedder."""
    return click.option(
        "--embedder",
        metavar="NAME",
        envvar="RECOLLECT_EMBEDDER",
        default=lambda: _configured("embedder") or DEFAULT_EMBEDDER,
        show_default=DEFAULT_EMBEDDER,
        callback=_with_keys,
        help=(
            "'auto' (minilm where it is installed), 'minilm', 'none', openai/MODEL, ollama/MODEL, "
            "fastembed/MODEL, or MODULE:NAME.  [env: RECOLLECT_EMBEDDER]"
        ),
    )


def rerank_option() -> Option:
    """Return the option that chooses the reranker."""
    return click.option(
        "--rerank",
        metavar="NAME",
        envvar="RECOLLECT_RERANK",
        default=lambda: _configured("rerank"),
        show_default="none",
        callback=_with_keys,
        help=(
            "A reranker for recall: its URL (#MODEL at the end), cohere/MODEL, "
            "jina/MODEL, or MODULE:NAME.  [env: RECOLLECT_RERANK]"
        ),
    )


def index_files_option() -> Option:
    """Return the option that keeps the indexes of large scopes in files."""
    return click.option(
        "--index-files/--no-index-files",
        envvar="RECOLLECT_INDEX_FILES",
        default=_configured_index_files,
        show_default="index files",
        help=(
            "Keep the indexes of large scopes in files beside a SQLite file."
            "  [env: RECOLLECT_INDEX_FILES]"
        ),
    )


def replica_option() -> Option:
    """Return the option that names read replicas of the store."""
    return click.option(
        "--replica",
        "replicas",
        metavar="URL",
        multiple=True,
        envvar="RECOLLECT_REPLICAS",
        help=(
            "A read replica of a PostgreSQL store, for recalls that allow staleness; repeatable."
            "  [env: RECOLLECT_REPLICAS, separated by spaces]"
        ),
    )


def stale_option() -> Option:
    """Return the option that allows a replica to answer."""
    return click.option(
        "--stale-s-max",
        type=float,
        metavar="SECONDS",
        help="Allow a --replica that lags by at most this many seconds.",
    )


def _configured_index_files() -> bool:
    from recollect.cli.formation_config import flag_in

    config = _config_file()
    return config is None or flag_in(config, "index_files", default=True)


def _configured(name: str) -> str | None:
    """Return a text setting of the command's configuration file, if it has one."""
    from recollect.cli.formation_config import text_in

    config = _config_file()
    return text_in(config, name) if config else None


def _config_file() -> Path | None:
    """Return the command's configuration file, if it has one."""
    context = click.get_current_context(silent=True)
    named = context.params.get("config") if context else None
    # Click stores a sentinel for an option that it has not processed yet.
    config = named if isinstance(named, Path) else os.environ.get("RECOLLECT_CONFIG")
    return Path(config) if config else None


def _with_keys(_: click.Context, __: click.Parameter, name: str | None) -> str | None:
    """Read ``.env`` if the named provider may need a key from it."""
    if name is not None and ("/" in name or ":" in name):
        from recollect.providers.environment import load_environment

        load_environment()
    return name


def limit_option(default: int = 100, *, about: str = "Maximum number of rows.") -> Option:
    """Return the option that limits a listing, at least 1."""
    return click.option(
        "--limit", type=int, default=default, show_default=True, callback=_check_limit, help=about
    )


def _check_limit(_: click.Context, __: click.Parameter, limit: int) -> int:
    if limit < 1:
        raise UsageError(f"--limit {limit}: ask for at least 1 row")
    return limit


def json_option() -> Option:
    """Return the option that chooses between a table and JSON."""
    return click.option(
        "--json/--table",
        "as_json",
        default=None,
        help="What to print.  [default: a table on a terminal, else JSON]",
    )


def wants_json(chosen: bool | None) -> bool:  # noqa: FBT001 (an option's value)
    """Return the choice of JSON; by default True if the output is not a terminal."""
    return not sys.stdout.isatty() if chosen is None else chosen


def scope_from(written: str | None, segments: tuple[str, ...]) -> Scope:
    """
    Return the scope of ``--scope`` and ``--segment`` together.

    >>> scope_from("acme/users", ("ada@example.com",))
    ('acme', 'users', 'ada@example.com')
    >>> scope_from("a%2Fb/c", ()), scope_from(None, ())
    (('a/b', 'c'), ('default',))
    """
    if written is None:
        return segments or (DEFAULT_SCOPE,)
    named = tuple(ESCAPED.sub(_unescaped, segment) for segment in written.split("/"))
    if "" in named:
        raise UsageError(f"the scope {written!r} has an empty segment: write it as 'a/b/c'")
    return (*named, *segments)


def _unescaped(match: re.Match[str]) -> str:
    return "%" if match[1] == "25" else "/"


class MomentOption(click.ParamType):  # type: ignore[type-arg] # generic in newer releases only
    """A time in ISO 8601; a date is its first moment, and a time without a zone is UTC."""

    name = "moment"

    def __init__(self, *words: str) -> None:
        self._words = words

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str:
        """Return the placeholder shown in the help."""
        return "|".join(["TIME", *self._words])

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> datetime | str:
        """Parse *value*; return it unchanged if it is one of the words."""
        if isinstance(value, datetime):
            return value
        written = str(value)
        if written in self._words:
            return written
        try:
            moment = datetime.fromisoformat(written)
        except ValueError:
            self.fail(
                f"{written!r} is not a time in ISO 8601, such as 2024-05-06 or 2024-05-06T12:00Z"
            )
        return with_zone(moment)


def split_address(written: str) -> tuple[str, str]:
    """
    Return type and key of ``TYPE/KEY``; the key may contain slashes.

    >>> split_address("Fact/home")
    ('Fact', 'home')
    """
    type_, slash, key = written.partition("/")
    if not slash or not type_ or not key:
        msg = f"{written!r} is not the address of a memory: write TYPE/KEY, such as User/User"
        raise UsageError(msg)
    return type_, key
