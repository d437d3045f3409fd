"""The service from another program: methods, records and errors of the library over HTTP."""

from __future__ import annotations

from recollect.client.client import Client
from recollect.client.response_records import Answerer, ErasePreview
from recollect.client.sync_client import SyncClient

__all__ = ["Answerer", "Client", "ErasePreview", "SyncClient"]
