"""Requests of a client that erase data."""

from __future__ import annotations

from recollect.client.answer_parts import receipts_of
from recollect.client.connection import ServiceConnection
from recollect.records import ScopeLike
from recollect.stores.plans.erase_targets import EraseReceipt, EraseTarget
from recollect.wire.erasures import (
    ErasePreview,
    preview_from_json,
    receipt_from_json,
    target_to_json,
)


class ErasureRequests(ServiceConnection):
    """Preview, confirm and list erases."""

    async def preview_erase(self, scope: ScopeLike, target: EraseTarget) -> ErasePreview:
        """Preview an erase; `confirm_erase` carries it out within ten minutes."""
        body = {"target": target_to_json(target)}
        answer = await self._write("POST", scope, "erase", "preview", body=body, is_repeatable=True)
        return answer.read(preview_from_json)

    async def confirm_erase(self, scope: ScopeLike, preview: ErasePreview) -> EraseReceipt:
        """
        Carry out a previewed erase exactly.

        Raises:
            ConflictError: The counts have changed since the preview: preview again.
        """
        answer = await self._write("POST", scope, "erase", body={"confirm": preview.confirm})
        return answer.read(receipt_from_json)

    async def erase(self, scope: ScopeLike, target: EraseTarget) -> EraseReceipt:
        """Preview and confirm in one call; see `Recollect.erase`."""
        return await self.confirm_erase(scope, await self.preview_erase(scope, target))

    async def receipts(
        self, scope: ScopeLike = (), *, below: bool = False, unclean: bool = False
    ) -> list[EraseReceipt]:
        """Return the receipts of erases in a scope through the service, oldest first."""
        answer = await self._read(scope, "erase", "receipts", below=below, unclean=unclean)
        return answer.read(receipts_of)
