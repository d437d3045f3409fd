"""The whole store contract: what a backend can break, and what every backend shares."""

from recollect.testing.store_contract import StoreContract
from tests.harness.plan_contracts.archive import ArchiveContract
from tests.harness.plan_contracts.audit import AuditPlanContract
from tests.harness.plan_contracts.backlog import BacklogPlanContract
from tests.harness.plan_contracts.changes import FeedPlanContract, ResetPlanContract
from tests.harness.plan_contracts.conditional_writes import SinceContract
from tests.harness.plan_contracts.derivations import DerivedContract
from tests.harness.plan_contracts.erase_receipts import EraseReceiptPlanContract
from tests.harness.plan_contracts.erase_targets import TargetPlanContract
from tests.harness.plan_contracts.erasure import ErasePlanContract
from tests.harness.plan_contracts.evidence import EvidenceContract
from tests.harness.plan_contracts.expiry import ProlongContract
from tests.harness.plan_contracts.findings import FindingContract
from tests.harness.plan_contracts.formation import FormationPlanContract, PendingPlanContract
from tests.harness.plan_contracts.history import HistoryPlanContract
from tests.harness.plan_contracts.idempotency_archive import IdempotencyArchivePlanContract
from tests.harness.plan_contracts.ids import IdentityPlanContract
from tests.harness.plan_contracts.keys import IdempotencyPlanContract
from tests.harness.plan_contracts.lanes import LaneContract
from tests.harness.plan_contracts.leases import LeasePlanContract
from tests.harness.plan_contracts.memories import MemoryPlanContract
from tests.harness.plan_contracts.messages import AppendPlanContract, MessagePlanContract
from tests.harness.plan_contracts.pages import ListingPlanContract, NewestPlanContract
from tests.harness.plan_contracts.receipt_sources import ReceiptSourcesContract
from tests.harness.plan_contracts.receipts import ReceiptPlanContract
from tests.harness.plan_contracts.redrive import RedrivePlanContract
from tests.harness.plan_contracts.retries import RetryContract
from tests.harness.plan_contracts.said_times import SaidTimeContract
from tests.harness.plan_contracts.side_records import SideRecordPlanContract
from tests.harness.plan_contracts.side_upkeep import SideRecordUpkeepContract
from tests.harness.plan_contracts.store_views import ViewContract
from tests.harness.plan_contracts.threads import EditPlanContract, ThreadPlanContract
from tests.harness.plan_contracts.undo import UndoContract
from tests.harness.plan_contracts.values import ValuePlanContract
from tests.harness.plan_contracts.vectors import VectorPlanContract


class WholeContract(
    StoreContract,
    AuditPlanContract,
    BacklogPlanContract,
    FeedPlanContract,
    ResetPlanContract,
    EraseReceiptPlanContract,
    TargetPlanContract,
    ErasePlanContract,
    FormationPlanContract,
    PendingPlanContract,
    HistoryPlanContract,
    IdempotencyArchivePlanContract,
    IdentityPlanContract,
    IdempotencyPlanContract,
    LeasePlanContract,
    MemoryPlanContract,
    MessagePlanContract,
    AppendPlanContract,
    ListingPlanContract,
    NewestPlanContract,
    ReceiptPlanContract,
    RedrivePlanContract,
    SideRecordPlanContract,
    ThreadPlanContract,
    EditPlanContract,
    ValuePlanContract,
    VectorPlanContract,
    RetryContract,
    ProlongContract,
    LaneContract,
    ReceiptSourcesContract,
    ViewContract,
    EvidenceContract,
    FindingContract,
    SaidTimeContract,
    DerivedContract,
    UndoContract,
    ArchiveContract,
    SideRecordUpkeepContract,
    SinceContract,
):
    """Every promise of `recollect.stores.contract.base.Store`, as a test."""
