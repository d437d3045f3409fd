"""The store contract as tests; a backend runs them by subclassing, with a fixture."""

from __future__ import annotations

from recollect.testing.contract_audit import AuditContract
from recollect.testing.contract_backlog import BacklogContract, LeaseContract, ListeningContract
from recollect.testing.contract_changes import FeedContract, ResetContract
from recollect.testing.contract_erase_receipts import EraseReceiptContract
from recollect.testing.contract_erasure import EraseContract, TargetContract
from recollect.testing.contract_formation import (
    FormationContract,
    PendingContract,
    ReceiptContract,
    RedriveContract,
)
from recollect.testing.contract_ids import IdentityContract
from recollect.testing.contract_keys import IdempotencyArchiveContract, IdempotencyContract
from recollect.testing.contract_memories import HistoryContract, MemoryContract, ValueContract
from recollect.testing.contract_messages import AppendContract, MessageContract
from recollect.testing.contract_pages import ListingContract, NewestContract
from recollect.testing.contract_row_places import RowPlaceContract
from recollect.testing.contract_rows import (
    RowLimitContract,
    RowOrderContract,
    RowRemovalContract,
)
from recollect.testing.contract_side_records import SideRecordContract
from recollect.testing.contract_snapshot import SnapshotContract
from recollect.testing.contract_threads import EditContract, ThreadContract
from recollect.testing.contract_transactions import StampContract, TransactionContract
from recollect.testing.contract_vectors import VectorContract


class StoreContract(
    AppendContract,
    MessageContract,
    ThreadContract,
    EditContract,
    IdentityContract,
    IdempotencyContract,
    IdempotencyArchiveContract,
    MemoryContract,
    ValueContract,
    ListingContract,
    NewestContract,
    HistoryContract,
    BacklogContract,
    FormationContract,
    LeaseContract,
    ListeningContract,
    PendingContract,
    ReceiptContract,
    RedriveContract,
    FeedContract,
    ResetContract,
    SnapshotContract,
    VectorContract,
    EraseContract,
    EraseReceiptContract,
    TargetContract,
    AuditContract,
    StampContract,
    SideRecordContract,
    TransactionContract,
    RowLimitContract,
    RowOrderContract,
    RowRemovalContract,
    RowPlaceContract,
):
    """
    Tests of a backend of `recollect.stores.contract.base.Store`.

    They reach every row that it reads and every effect that it writes. The decisions above the
    rows, such as those of an undo, are the library's own and the same for every backend.

    Subclass it, and define an async fixture ``store`` that yields an empty store made
    with the class's fixture ``clock``.
    """
