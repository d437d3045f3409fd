"""The whole store contract: what a backend can break, and what every backend shares."""

from recollect.testing.store_contract import StoreContract
from tests.harness.plan_contracts.archive import ArchiveContract
from tests.harness.plan_contracts.conditional_writes import SinceContract
from tests.harness.plan_contracts.derivations import DerivedContract
from tests.harness.plan_contracts.evidence import EvidenceContract
from tests.harness.plan_contracts.expiry import ProlongContract
from tests.harness.plan_contracts.findings import FindingContract
from tests.harness.plan_contracts.lanes import LaneContract
from tests.harness.plan_contracts.receipt_sources import ReceiptSourcesContract
from tests.harness.plan_contracts.retries import RetryContract
from tests.harness.plan_contracts.said_times import SaidTimeContract
from tests.harness.plan_contracts.side_upkeep import SideRecordUpkeepContract
from tests.harness.plan_contracts.store_views import ViewContract
from tests.harness.plan_contracts.undo import UndoContract


class WholeContract(
    StoreContract,
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
