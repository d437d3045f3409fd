"""The HTTP client: the methods, records and errors of the library, over a running service."""

from __future__ import annotations

from recollect.client.client import Client
from recollect.client.sync_client import SyncClient
from recollect.wire.administration import Answerer
from recollect.wire.erasures import ErasePreview

__all__ = ["Answerer", "Client", "ErasePreview", "SyncClient"]
