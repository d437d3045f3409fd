"""Formation options of the command line: the model, and the configuration file."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from recollect.cli.options import Command, Option
from recollect.errors import LimitError, NotFoundError, UsageError

if TYPE_CHECKING:
    from recollect.formation.config import Assistants, FormationSettings
    from recollect.records import JsonObject, Scope

FILE_BYTES_MAX: Final = 4_000_000
DEFAULT: Final = "default"
_OWN_KEYS: Final = frozenset(
    {
        *("model", "base_url", "embedder", "rerank", "index_files"),
        *("assistants", "scopes", "service"),
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class FormationOptions:
    """The formation options: the *model* requested, and the configuration."""

    model: str | None
    base_url: str | None
    assistants: Assistants


def forming_options(*, delay: bool = False) -> Option:
    """Add the formation options to a command, as `FormationOptions` named *forming*."""

    def decorate(command: Command) -> Command:
        @wraps(command)
        def with_forming(*arguments: Any, **options: Any) -> Any:
            forming = forming_of(
                options.pop("model"),
                base_url=options.pop("base_url"),
                config=options.pop("config"),
                after_s=options.pop("after_seconds", None),
            )
            return command(*arguments, forming=forming, **options)

        decorated: Command = with_forming
        for option in reversed(_options(delay=delay)):
            decorated = option(decorated)
        return decorated

    return decorate


def _options(*, delay: bool) -> list[Option]:
    found: list[Option] = [
        click.option(
            "--model",
            metavar="MODEL",
            help=(
                "provider/model; 'default' for the documented one; 'rules' for a few fixed rules, "
                "to try it without a model; or a script, FILE.json.  [env: RECOLLECT_MODEL]"
            ),
        ),
        click.option(
            "--base-url", metavar="URL", help="Address of the model's server, such as a local one."
        ),
        config_option(),
    ]
    if delay:
        found.append(
            click.option(
                "--after-seconds",
                type=float,
                metavar="N",
                help="Seconds without a message before memories are formed.  [default: 10]",
            )
        )
    return found


def config_option() -> Option:
    """Return the option that names the configuration file."""
    return click.option(
        "--config",
        metavar="FILE",
        type=click.Path(path_type=Path),
        envvar="RECOLLECT_CONFIG",
        help="Types, prompts, limits, delays as TOML or JSON.  [env: RECOLLECT_CONFIG]",
    )


def text_in(config: Path, name: str) -> str | None:
    """Return the text setting *name* of the configuration file, ``None`` if it has none."""
    return _text(read_file(config), name, config)


def flag_in(config: Path, name: str, *, default: bool) -> bool:
    """Return the boolean setting *name* of the configuration file, *default* without one."""
    found = read_file(config).get(name, default)
    if not isinstance(found, bool):
        raise UsageError(f"{config}: {name}: is true or false, not {found!r}")
    return found


def service_table(config: Path | None) -> dict[str, object]:
    """Return the table [service] of the configuration file, if there is one."""
    table = read_file(config).get("service", {}) if config else {}
    if not isinstance(table, dict):
        raise UsageError(f"{config}: service: is a table of settings, not {table!r}")
    return table


def forming_of(
    model: str | None, *, base_url: str | None, config: Path | None, after_s: float | None
) -> FormationOptions:
    """
    Return the formation options; reads ``.env``, and options override the file.

    Raises:
        NotFoundError: The file does not exist.
        UsageError: The file is invalid.
    """
    from recollect.formation.config import Assistants, with_settings
    from recollect.models import load_environment

    load_environment()
    read = read_file(config) if config else {}
    assistants = assistants_in(read, str(config)) if config else Assistants()
    if after_s is not None:
        waits: JsonObject = {"after_seconds": after_s}
        assistants = Assistants(
            default=with_settings(assistants.default, waits),
            named={name: with_settings(each, waits) for name, each in assistants.named.items()},
            scopes=assistants.scopes,
        )
    # Not click's `envvar`: `.env` is read after the options are parsed.
    chosen = model or os.environ.get("RECOLLECT_MODEL") or _text(read, "model", config)
    return FormationOptions(
        model=chosen or None,
        base_url=base_url or _text(read, "base_url", config),
        assistants=assistants,
    )


def assistants_in(read: Mapping[str, object], file: str) -> Assistants:
    """
    Return the formation settings of a configuration file, with its assistants.

    The caller reads ``model``, ``base_url``, ``embedder``, ``rerank`` and ``index_files`` itself,
    because options may override them.

    Raises:
        UsageError: The file is invalid; the error names *file* and the place in it.
    """
    from recollect.formation.config import Assistants, FormationSettings

    own = {name: value for name, value in read.items() if name not in _OWN_KEYS}
    default = _settings(FormationSettings(), own, file)
    tables = read.get("assistants", {})
    if not isinstance(tables, Mapping):
        raise UsageError(f"{file}: assistants: is a table of assistants by name, not {tables!r}")
    named = {
        name: _settings(default, table, f"{file}: assistants.{name}")
        for name, table in tables.items()
    }
    scopes = _scopes(read.get("scopes", []), f"{file}: scopes")
    try:
        return Assistants(default=default, named=named, scopes=scopes)
    except UsageError as error:
        raise UsageError(f"{file}: scopes: {error}") from error


def _scopes(tables: object, place: str) -> dict[Scope, str]:
    """Return the assistant of each scope in the configuration."""
    from recollect.stores.validation import check_scope

    if not isinstance(tables, Sequence) or isinstance(tables, str):
        msg = f"{place}: is a list of tables, each with scope and assistant; not {tables!r}"
        raise UsageError(msg)
    found: dict[Scope, str] = {}
    for number, table in enumerate(tables):
        if not isinstance(table, Mapping) or {"scope", "assistant"} != table.keys():
            msg = f"{place}[{number}]: has the keys scope and assistant, and no others: {table!r}"
            raise UsageError(msg)
        try:
            found[check_scope(tuple(table["scope"]))] = table["assistant"]
        except (TypeError, UsageError) as error:
            raise UsageError(f"{place}[{number}]: {error}") from error
    return found


def _settings(base: FormationSettings, table: object, place: str) -> FormationSettings:
    """Return *base* with the settings of a table; *place* starts each error."""
    from recollect.formation.config import DEFAULT_MODEL, with_settings
    from recollect.models.model_choice import RULES
    from recollect.models.named_model import parsed_choice

    if not isinstance(table, Mapping):
        raise UsageError(f"{place}: is a table of settings, not {table!r}")
    try:
        settings = with_settings(base, table)
        if settings.model == DEFAULT:
            settings = replace(settings, model=DEFAULT_MODEL)
        if settings.model not in {None, RULES}:
            parsed_choice(settings.model)
    except UsageError as error:
        raise UsageError(f"{place}: {error}") from error
    return settings


def _text(read: Mapping[str, object], name: str, file: Path | None) -> str | None:
    found = read.get(name)
    if found is not None and not isinstance(found, str):
        raise UsageError(f"{file}: {name}: is text, not {found!r}")
    return found


def read_file(path: Path) -> Mapping[str, object]:
    """
    Return the content of a TOML or JSON file.

    Raises:
        NotFoundError: The file does not exist.
        UsageError: It cannot be read, or is not an object of settings.
        LimitError: It is larger than ``FILE_BYTES_MAX``.
    """
    import tomllib

    from recollect.formation.strict_json import NotJsonError, read_json

    if path.suffix not in {".toml", ".json"}:
        raise UsageError(f"{path}: a configuration must be a .toml or .json file")
    try:
        size = path.stat().st_size
        if size > FILE_BYTES_MAX:
            raise LimitError(f"bytes of {path}", size, FILE_BYTES_MAX, "FILE_BYTES_MAX")
        text = path.read_bytes().decode("utf-8-sig")  # editors on Windows write a byte order mark
        read = read_json(text) if path.suffix == ".json" else tomllib.loads(text)
    except FileNotFoundError as error:
        raise NotFoundError(f"there is no file {str(path)!r}") from error
    except (OSError, ValueError, NotJsonError, RecursionError) as error:
        if isinstance(error, LimitError):
            raise
        raise UsageError(f"{path}: cannot be read: {error}") from error
    if not isinstance(read, Mapping):
        raise UsageError(f"{path}: must be an object of settings, not {read!r}")
    return read
