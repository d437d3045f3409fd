"""The service from another program: methods, records and errors of the library over HTTP."""

from __future__ import annotations

from recollect.client.client import Client
from recollect.client.face import SyncClient
from recollect.client.reading import Answerer, ErasePreview

__all__ = ["Answerer", "Client", "ErasePreview", "SyncClient"]
