"""`SyncClient`: the same client without ``await``, each method made from that of `Client`."""

from __future__ import annotations

from functools import partial

from recollect.client.client import TIMEOUT_S, Client
from recollect.client.http_requests import RETRIES
from recollect.sync.face import SyncFace, sync_iterator, sync_method


class SyncClient(SyncFace[Client]):
    """
    `Client`, called without ``await``; see there for what each method does.

    It lives on a thread of its own, so that it works in notebooks and inside a running event
    loop (which it blocks). Enter it with ``with``.
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

    me = sync_method(Client.me)
    append = sync_method(Client.append)
    threads = sync_method(Client.threads)
    thread = sync_method(Client.thread)
    messages = sync_method(Client.messages)
    last_messages = sync_method(Client.last_messages)
    remove = sync_method(Client.remove)
    replace = sync_method(Client.replace)
    put = sync_method(Client.put)
    get = sync_method(Client.get)
    memories = sync_method(Client.memories)
    history = sync_method(Client.history)
    forget = sync_method(Client.forget)
    scopes = sync_method(Client.scopes)
    recall = sync_method(Client.recall)
    form = sync_method(Client.form)
    pending = sync_method(Client.pending)
    formations = sync_method(Client.formations)
    formation = sync_method(Client.formation)
    pause = sync_method(Client.pause)
    resume = sync_method(Client.resume)
    retry = sync_method(Client.retry)
    reject = sync_method(Client.reject)
    approve = sync_method(Client.approve)
    preview_erase = sync_method(Client.preview_erase)
    confirm_erase = sync_method(Client.confirm_erase)
    erase = sync_method(Client.erase)
    receipts = sync_method(Client.receipts)
    export = sync_iterator(Client.export)
    restore = sync_method(Client.restore)
    health = sync_method(Client.health)
    audit = sync_method(Client.audit)
    audit_verified = sync_method(Client.audit_verified)
