"""`SyncClient`: the blocking variant of `Client`; each method is derived from it."""

from __future__ import annotations

from functools import partial

from recollect.client.client import Client
from recollect.client.connection import TIMEOUT_S
from recollect.client.http_requests import RETRIES
from recollect.sync.generated_methods import (
    SyncFace,
    sync_close,
    sync_iterator,
    sync_method,
    sync_open,
)


class SyncClient(SyncFace[Client]):
    """
    Blocking variant of `Client`, with the same methods.

    It runs on its own thread, so that it works in notebooks and inside a running event loop (which
    it blocks). Enter it with ``with``.
    """

    def __init__(
        self,
        url: str,
        key: str = "",
        *,
        timeout_s: float = TIMEOUT_S,
        retries: int = RETRIES,
    ) -> None:
        make = partial(Client, url, key, timeout_s=timeout_s, retries=retries)
        super().__init__(make, how_to_open="use it inside 'with SyncClient(...)'")

    open = sync_open(Client.open)
    close = sync_close(Client.close)
    me = sync_method(Client.me)
    append = sync_method(Client.append)
    threads = sync_method(Client.threads)
    thread = sync_method(Client.thread)
    messages = sync_method(Client.messages)
    last_messages = sync_method(Client.last_messages)
    remove = sync_method(Client.remove)
    replace = sync_method(Client.replace)
    put = sync_method(Client.put)
    remember = sync_method(Client.remember)
    end = sync_method(Client.end)
    get = sync_method(Client.get)
    memories = sync_method(Client.memories)
    history = sync_method(Client.history)
    delete = sync_method(Client.delete)
    scopes = sync_method(Client.scopes)
    recall = sync_method(Client.recall)
    context = sync_method(Client.context)
    form = sync_method(Client.form)
    pending = sync_method(Client.pending)
    formations = sync_method(Client.formations)
    formation = sync_method(Client.formation)
    pause = sync_method(Client.pause)
    resume = sync_method(Client.resume)
    retry = sync_method(Client.retry)
    reject = sync_method(Client.reject)
    approve = sync_method(Client.approve)
    review = sync_method(Client.review)
    preview_erase = sync_method(Client.preview_erase)
    confirm_erase = sync_method(Client.confirm_erase)
    erase = sync_method(Client.erase)
    receipts = sync_method(Client.receipts)
    export = sync_iterator(Client.export)
    import_records = sync_method(Client.import_records)
    health = sync_method(Client.health)
    audit = sync_method(Client.audit)
    verify_audit = sync_method(Client.verify_audit)
