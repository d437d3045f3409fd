"""Find a provider's address and key in arguments or the environment."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import urlsplit

from recollect.errors import ModelDeniedError, UsageError

NO_KEY: Final = "none"
"""The key sent to servers that need none, as the clients require one."""
OLLAMA_PORT: Final = 11_434


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """
    The address and key of a provider.

    *base_url* is ``None`` for the provider's own service. *api_key* is ``None`` if the client finds
    its credentials itself.
    """

    base_url: str | None
    api_key: str | None = field(repr=False)

    @property
    def is_elsewhere(self) -> bool:
        """Whether it is not the provider's own service."""
        return self.base_url is not None

    @property
    def secrets(self) -> tuple[str, ...]:
        """The key, to redact in messages."""
        return (self.api_key,) if self.api_key and self.api_key != NO_KEY else ()


def endpoint_of(
    provider: str,
    *,
    base_url: str | None = None,
    api_key: str | None = None,
    environment: Mapping[str, str] | None = None,
) -> Endpoint:
    """
    Return the endpoint of ``openai``, ``anthropic`` or ``ollama``.

    The variables are ``OPENAI_BASE_URL`` and ``OPENAI_API_KEY``, ``ANTHROPIC_BASE_URL`` and
    ``ANTHROPIC_API_KEY``, ``OLLAMA_HOST`` and ``OLLAMA_API_KEY``. If *base_url* is passed, no key
    from the environment is sent, as it may be for another service.

    Raises:
        UsageError: The URL is invalid.
        ModelDeniedError: The provider's own service needs a key, and there is none.

    >>> endpoint_of("ollama", environment={}).base_url
    'http://127.0.0.1:11434/v1'
    """
    variables = os.environ if environment is None else environment
    if base_url is None:
        api_key = api_key or variables.get(f"{provider.upper()}_API_KEY") or None
    if provider == "ollama":
        chosen: str | None = _ollama_url(base_url or variables.get("OLLAMA_HOST") or "127.0.0.1")
    else:
        chosen = base_url or variables.get(f"{provider.upper()}_BASE_URL") or None
    if chosen is not None:
        return Endpoint(base_url=checked_url(chosen), api_key=api_key or NO_KEY)
    if api_key is None and not (provider == "anthropic" and variables.get("ANTHROPIC_AUTH_TOKEN")):
        name = f"{provider.upper()}_API_KEY"
        raise ModelDeniedError(
            f"there is no key for {provider}: set {name} in the environment or in .env, or pass "
            f"api_key; for a server of your own set {provider.upper()}_BASE_URL"
        )
    return Endpoint(base_url=None, api_key=api_key)


def _ollama_url(host: str) -> str:
    """
    Return the URL of Ollama's OpenAI-compatible routes, from a value of ``OLLAMA_HOST``.

    >>> _ollama_url("0.0.0.0:80"), _ollama_url("https://gpu.example/")
    ('http://127.0.0.1:80/v1', 'https://gpu.example/v1')
    """
    has_scheme = "://" in host
    parts = urlsplit(host if has_scheme else f"http://{host}")
    # 0.0.0.0 is where a server listens; a client must connect to an address.
    place = parts.netloc.replace("0.0.0.0", "127.0.0.1")  # noqa: S104
    try:
        is_bare = not has_scheme and parts.port is None
    except ValueError:
        is_bare = False
    port = f":{OLLAMA_PORT}" if is_bare else ""
    return f"{parts.scheme}://{place}{port}{parts.path.rstrip('/') or '/v1'}"


def checked_url(url: str) -> str:
    """
    Return *url* if it is valid.

    Raises:
        UsageError: It is not an http or https URL with a host.
    """
    try:
        parts = urlsplit(url)
        is_url = parts.scheme in {"http", "https"} and bool(parts.hostname)
        _ = parts.port
    except ValueError:
        is_url = False
    if not is_url:
        raise UsageError(f"the URL {url!r} is invalid: write it as http://127.0.0.1:8000/v1")
    return url
