"""Headers of the client's writes."""

from __future__ import annotations

from uuid import uuid4


def made_key() -> dict[str, str]:
    """Return a new idempotency key as a header, which all attempts of one call share."""
    return {"idempotency-key": uuid4().hex}


def expecting(expected: int | None) -> dict[str, str]:
    """Return the header with the expected version; 0 means that there is none yet."""
    if expected is None:
        return {}
    return {"if-match": f'"{expected}"'} if expected else {"if-none-match": "*"}
