"""Keep providers' clients from sleeping through a long pause that a provider asks for."""

from __future__ import annotations

from typing import Any, Final

from recollect.providers.provider_errors import retry_after_s

PAUSE_S_MAX: Final = 20.0
"""Longest pause that a client waits for before it asks again; a longer one is an error."""


def refuse_long_pause(response: Any) -> None:
    """
    Tell the client not to retry *response* if it asks for a pause longer than ``PAUSE_S_MAX``.

    The clients of OpenAI and Anthropic wait up to two minutes. The caller's timeout would end
    first, and hide that the provider is busy and for how long. It is a hook of the HTTP client.
    """
    asked = retry_after_s(response.headers)
    if asked is not None and asked > PAUSE_S_MAX:
        response.headers["x-should-retry"] = "false"  # the header by which a server says so


async def refuse_long_pause_async(response: Any) -> None:
    """Do the same as `refuse_long_pause`, as a hook of an asynchronous client."""
    refuse_long_pause(response)
