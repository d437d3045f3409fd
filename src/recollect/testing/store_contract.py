"""The store contract as tests; a backend runs them by subclassing, with a fixture."""

from __future__ import annotations

from recollect.testing.contract_appends import AppendContract
from recollect.testing.contract_archive import ArchiveContract
from recollect.testing.contract_audit import AuditContract
from recollect.testing.contract_backlog import BacklogContract
from recollect.testing.contract_changes import FeedContract
from recollect.testing.contract_conditional_writes import SinceContract
from recollect.testing.contract_derivations import DerivedContract
from recollect.testing.contract_edits import EditContract
from recollect.testing.contract_erase_receipts import EraseReceiptContract
from recollect.testing.contract_erase_targets import TargetContract
from recollect.testing.contract_erasure import EraseContract
from recollect.testing.contract_evidence import EvidenceContract
from recollect.testing.contract_expiry import ProlongContract
from recollect.testing.contract_findings import FindingContract
from recollect.testing.contract_formation import FormationContract
from recollect.testing.contract_history import HistoryContract
from recollect.testing.contract_idempotency_archive import IdempotencyArchiveContract
from recollect.testing.contract_ids import IdentityContract
from recollect.testing.contract_keys import IdempotencyContract
from recollect.testing.contract_lanes import LaneContract
from recollect.testing.contract_leases import LeaseContract
from recollect.testing.contract_memories import MemoryContract
from recollect.testing.contract_messages import MessageContract
from recollect.testing.contract_newest_memories import NewestContract
from recollect.testing.contract_pages import ListingContract
from recollect.testing.contract_pending_threads import PendingContract
from recollect.testing.contract_receipt_sources import ReceiptSourcesContract
from recollect.testing.contract_receipts import ReceiptContract
from recollect.testing.contract_redrive import RedriveContract
from recollect.testing.contract_resets import ResetContract
from recollect.testing.contract_retries import RetryContract
from recollect.testing.contract_said_times import SaidTimeContract
from recollect.testing.contract_settings_stamps import StampContract
from recollect.testing.contract_side_records import SideRecordContract
from recollect.testing.contract_side_upkeep import SideRecordUpkeepContract
from recollect.testing.contract_snapshot import SnapshotContract
from recollect.testing.contract_store_views import ViewContract
from recollect.testing.contract_subscriptions import ListeningContract
from recollect.testing.contract_threads import ThreadContract
from recollect.testing.contract_transactions import TransactionContract
from recollect.testing.contract_undo import UndoContract
from recollect.testing.contract_values import ValueContract
from recollect.testing.contract_vectors import VectorContract


class StoreContract(
    AppendContract,
    MessageContract,
    ThreadContract,
    EditContract,
    IdentityContract,
    IdempotencyContract,
    RetryContract,
    IdempotencyArchiveContract,
    MemoryContract,
    ValueContract,
    ListingContract,
    NewestContract,
    ProlongContract,
    HistoryContract,
    BacklogContract,
    FormationContract,
    LeaseContract,
    LaneContract,
    ListeningContract,
    PendingContract,
    ReceiptContract,
    ReceiptSourcesContract,
    RedriveContract,
    FeedContract,
    ResetContract,
    SnapshotContract,
    VectorContract,
    ViewContract,
    EraseContract,
    EraseReceiptContract,
    TargetContract,
    EvidenceContract,
    FindingContract,
    SaidTimeContract,
    DerivedContract,
    UndoContract,
    ArchiveContract,
    AuditContract,
    StampContract,
    SideRecordContract,
    SideRecordUpkeepContract,
    SinceContract,
    TransactionContract,
):
    """
    Every promise of `recollect.stores.contract.base.Store`, as a test.

    Subclass it, and define an async fixture ``store`` that yields an empty store made
    with the class's fixture ``clock``.
    """
