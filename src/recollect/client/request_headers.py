"""Headers that the client sends with what it writes."""

from __future__ import annotations

from uuid import uuid4


def made_key() -> dict[str, str]:
    """Return the header by which the service knows all attempts of one call for one request."""
    return {"idempotency-key": uuid4().hex}


def expecting(expected: int | None) -> dict[str, str]:
    """Return the header that names the version that the caller read."""
    if expected is None:
        return {}
    return {"if-match": f'"{expected}"'} if expected else {"if-none-match": "*"}
