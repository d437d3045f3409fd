"""Signed tokens that clients return unchanged: cursors and confirmations."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
from collections.abc import Sequence
from typing import Final

from recollect.errors import UsageError
from recollect.records import Json

TOKEN_CHARACTERS_MAX: Final = 8_000
_SIGNATURE_BYTES: Final = 16
"""128 bits of an HMAC-SHA256, which RFC 2104 allows to truncate to half."""


class Signer:
    """Signs small JSON values for one purpose: a token is rejected for any other."""

    def __init__(self, secret: bytes) -> None:
        self._key = hashlib.sha256(b"recollect service\0" + secret).digest()

    def token(self, value: Json, *purpose: str | Sequence[str]) -> str:
        """Return *value* as a token that is valid for this *purpose* only."""
        body = json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
        return base64.urlsafe_b64encode(self._signature(body, purpose) + body).decode().rstrip("=")

    def value(
        self,
        token: str,
        *purpose: str | Sequence[str],
        characters_max: int = TOKEN_CHARACTERS_MAX,
    ) -> Json:
        """
        Return the value of a token.

        Raises:
            UsageError: The token is forged, or signed for another purpose.
        """
        try:
            padded = token + "=" * (-len(token) % 4)
            raw = base64.b64decode(padded.encode("ascii"), altchars=b"-_", validate=True)
        except (ValueError, binascii.Error):
            raw = b""
        signature, body = raw[:_SIGNATURE_BYTES], raw[_SIGNATURE_BYTES:]
        if len(token) > characters_max or not hmac.compare_digest(
            signature, self._signature(body, purpose)
        ):
            what = purpose[0]
            msg = f"the {what} is invalid for this request and scope: send it as you received it"
            raise UsageError(msg)
        found: Json = json.loads(body)  # only after the signature: the body is our own JSON
        return found

    def derived(self, *purpose: str) -> bytes:
        """Derive 32 bytes from the secret, always the same for a *purpose*."""
        about = json.dumps(["derived", *purpose]).encode()
        return hmac.new(self._key, about, hashlib.sha256).digest()

    def _signature(self, body: bytes, purpose: Sequence[str | Sequence[str]]) -> bytes:
        about = json.dumps([each if isinstance(each, str) else list(each) for each in purpose])
        signed = hmac.new(self._key, about.encode() + b"\0" + body, hashlib.sha256)
        return signed.digest()[:_SIGNATURE_BYTES]
