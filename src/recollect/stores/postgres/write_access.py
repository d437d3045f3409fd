"""Ask a server whether it takes writes, without writing."""

from __future__ import annotations

from psycopg.errors import ReadOnlySqlTransaction

from recollect.stores.postgres.row_security import CLOSED
from recollect.stores.postgres.statements import SESSION
from recollect.stores.postgres.transaction import Transaction
from recollect.stores.postgres.unit_attempt import UnitAttempt
from recollect.stores.unit_of_work import NOTHING, PlannedWrite


class WriteAccessAttempt(UnitAttempt[None]):
    """An attempt that fails as a write would on a standby, or where only reads are allowed."""

    def __init__(self) -> None:
        super().__init__(lambda _: PlannedWrite(NOTHING, None), writing=False)

    def _decide(self, transaction: Transaction) -> PlannedWrite[None]:
        (((takes_writes,),),) = transaction.fetch_all([(SESSION["takes_writes"], (), CLOSED)])
        if not takes_writes:
            raise ReadOnlySqlTransaction("the server takes no writes")
        return PlannedWrite(NOTHING, None)
