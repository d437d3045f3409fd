"""Settings of the service: read from a file, the environment and flags, and validated."""

from __future__ import annotations

import ipaddress
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Final
from urllib.parse import urlsplit

from recollect.errors import UsageError
from recollect.records import Scope
from recollect.server.authorization import check_bound
from recollect.stores.json_pointers import texts_in
from recollect.text.coded_text import with_code

SECRET_CHARACTERS_MIN: Final = 32
SECRET_VARIETY_MIN: Final = 10
"""Minimum number of distinct characters in a secret."""
BODY_BYTES_CEILING: Final = 1_000_000_000
ENVIRONMENT: Final = "RECOLLECT_"
NO_MODEL: Final = with_code(
    "no_model",
    "the service has no model, so no memories are formed: start it with `recollect serve --model "
    "provider/model`, or `--model rules` for rules without a provider",
)
UNFORMED: Final = f"the messages are stored, but {NO_MODEL}"
"""The answer about messages that wait for a model."""
LOOPBACK: Final = ("localhost", "127.0.0.1", "[::1]")
_HOST: Final = re.compile(r"[A-Za-z0-9._-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """
    The settings of the service; created and validated by `read_settings`.

    *scope* is the scope of the first key, or of every caller without *auth*. ``None`` chooses the
    only tenant of the store, or ``("default",)``; without *auth* always the latter. *hosts* are the
    accepted Host names (``"*"`` for any), *origins* the allowed foreign origins. Quotas are per
    tenant, which is the first segment of a key's scope.
    """

    host: str = "127.0.0.1"
    port: int = 8300
    auth: bool = True
    scope: Scope | None = None
    secret: str | None = field(default=None, repr=False)
    """Secret that signs cursors and confirmations; by default generated and kept in the store."""
    hosts: tuple[str, ...] = ()
    origins: tuple[str, ...] = ()
    credentials: bool = False
    """Whether pages of *origins* may send credentials such as cookies."""
    body_bytes_max: int = 1_000_000
    import_bytes_max: int = 100_000_000
    body_timeout_s: float = 10.0
    header_timeout_s: float = 5.0
    request_timeout_s: float = 60.0
    connections_max: int = 200
    connections_reserved: int | None = None
    """Connections reserved for requests with a valid key; a quarter of all by default."""
    connections_per_address: int = 64
    """Connections that one address may hold without a valid key."""
    idle_timeout_s: float = 5.0
    """Idle timeout of connections without a valid key."""
    proxies: tuple[str, ...] = ()
    """Addresses or networks of proxies whose ``X-Forwarded-For`` is trusted."""
    streams_max: int = 100
    requests_a_second: float = 50.0
    burst: int = 200
    messages_a_day: int | None = None
    memories_a_day: int | None = None
    bytes_a_day: int | None = None
    grace_s: float = 7.0
    open_metrics: bool = False
    """Whether /metrics answers without a key."""
    trace_content: bool = False
    """Whether traces contain queries and results."""

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine can reach it."""
        if self.host == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False

    @property
    def allowed_hosts(self) -> tuple[str, ...]:
        """The accepted Host names."""
        if self.hosts:
            return self.hosts
        return LOOPBACK if self.is_loopback else ("*",)


def read_settings(
    flags: Mapping[str, object] | None = None,
    *,
    file: Mapping[str, object] | None = None,
    environment: Mapping[str, str] | None = None,
) -> Settings:
    """
    Return the settings of a service. A flag overrides the environment, and that the file.

    Args:
        flags: Settings by name; ``None`` for those not given.
        file: The table ``[service]`` of a configuration file.
        environment: ``RECOLLECT_HOST`` and the like; the process's by default.

    Raises:
        UsageError: A setting is invalid, or conflicts with another; it says why.
    """
    variables = os.environ if environment is None else environment
    known = {each.name: each for each in fields(Settings)}
    chosen: dict[str, Any] = {}
    for name, value in (file or {}).items():
        if name not in known:
            raise UsageError(f"[service] has no setting {name!r}; it has: {', '.join(known)}")
        chosen[name] = _read(name, value, f"service.{name}")
    for name in known:
        variable = f"{ENVIRONMENT}{name.upper()}"
        if variables.get(variable):
            chosen[name] = _read(name, variables[variable], variable)
    for name, value in (flags or {}).items():
        if value is not None:
            chosen[name] = _read(name, value, f"--{name.replace('_', '-')}")
    return checked(Settings(**chosen))


def _read(name: str, value: object, place: str) -> object:
    """Convert a setting to its type; *place* names its origin in the error."""
    default = getattr(Settings(), name)
    if name in {"hosts", "origins", "proxies", "scope"}:
        separator = "/" if name == "scope" else ","
        given = value.split(separator) if isinstance(value, str) else value
        texts = texts_in(given)
        if isinstance(given, list | tuple) and len(texts) == len(given):
            return tuple(each.strip() for each in texts if each.strip())
    elif isinstance(default, bool):
        words = {"1": True, "true": True, "yes": True, "0": False, "false": False, "no": False}
        if isinstance(value, bool):
            return value
        if isinstance(value, str) and value.lower() in words:
            return words[value.lower()]
    elif name in {"host", "secret"}:
        if isinstance(value, str) and value:
            return value
    else:
        return _number(name, value, place, is_whole=not isinstance(default, float))
    raise UsageError(f"{place} cannot be {_redacted(name, value)}")


def _number(name: str, value: object, place: str, *, is_whole: bool) -> int | float:
    least = 0 if name in {"port", "connections_reserved"} else 1 if is_whole else 0.001
    most = 65_535 if name == "port" else BODY_BYTES_CEILING
    number = _parsed(value, is_whole=is_whole)
    if number is None or not least <= number <= most:
        kind = "a whole number" if is_whole else "a number"
        raise UsageError(f"{place} is {kind} from {least:g} to {most:g}, not {value!r}")
    return number


def _parsed(value: object, *, is_whole: bool) -> int | float | None:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    if is_whole and isinstance(value, float):
        return None
    try:
        return int(value) if is_whole else float(value)
    except ValueError:
        return None


def _redacted(name: str, value: object) -> str:
    return "what was given" if name == "secret" else repr(value)  # a secret is never printed


def checked(settings: Settings) -> Settings:
    """
    Return *settings* if they are safe and consistent.

    Raises:
        UsageError: The service would be open to other machines without keys, sign with a weak
            secret, or let any web page use a visitor's credentials; or a value is malformed.
    """
    if settings.scope is not None:
        check_bound(settings.scope)
    if not settings.auth and not settings.is_loopback:
        raise UsageError(
            f"the address {settings.host!r} is open to other machines, and without keys so is "
            "every memory: bind 127.0.0.1, or turn authentication on"
        )
    if settings.secret is not None:
        _check_secret(settings.secret)
    for host in settings.hosts:
        if host != "*" and not _HOST.fullmatch(host):
            msg = f"hosts: {host!r} is not a host name: give it without scheme, port and path"
            raise UsageError(msg)
    if "*" in settings.origins and settings.credentials:
        raise UsageError(
            "origins '*' with credentials would let every web page act for its visitors: "
            "name the origins, or turn credentials off"
        )
    for origin in settings.origins:
        _check_origin(origin)
    _check_connections(settings)
    return settings


def _check_connections(settings: Settings) -> None:
    if (settings.connections_reserved or 0) >= settings.connections_max:
        raise UsageError(
            f"connections_reserved {settings.connections_reserved} leaves no connection for "
            f"requests without a key: give less than connections_max, {settings.connections_max}"
        )
    for proxy in settings.proxies:
        try:
            ipaddress.ip_network(proxy, strict=False)
        except ValueError:
            msg = f"proxies: {proxy!r} is not an address or network: write 10.0.0.7 or 10.0.0.0/8"
            raise UsageError(msg) from None


def _check_secret(secret: str) -> None:
    if len(secret) < SECRET_CHARACTERS_MIN or len(set(secret)) < SECRET_VARIETY_MIN:
        raise UsageError(
            f"the secret is too weak: give at least {SECRET_CHARACTERS_MIN} characters "
            f"(SECRET_CHARACTERS_MIN), {SECRET_VARIETY_MIN} of them distinct, at random, "
            "e.g. from `openssl rand -base64 48`; or none, then one is generated"
        )


def _check_origin(origin: str) -> None:
    parts = urlsplit(origin)
    is_whole = parts.scheme in {"http", "https"} and bool(parts.netloc)
    if origin != "*" and (not is_whole or parts.path or parts.query or "@" in parts.netloc):
        msg = f"origins: {origin!r} is not an origin: write scheme and host, as https://example.org"
        raise UsageError(msg)
