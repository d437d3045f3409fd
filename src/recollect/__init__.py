"""
Recollect: the memory of LLM applications.

It stores conversations, forms memories from them in the background, recalls what is relevant to the
next turn, and erases on request. `open` returns a `Recollect`; `open_sync` returns the same API
without ``await``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from recollect.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from recollect.embedders import EmbedderChoice
    from recollect.errors import (
        ConflictError,
        EmbedderError,
        LeaseLostError,
        LimitError,
        MissingExtraError,
        ModelError,
        NotFoundError,
        RecollectError,
        StoreClosedError,
        StoreCorruptError,
        StoreError,
        StoreFullError,
        StoreReadOnlyError,
        StoreUnavailableError,
        StoreVersionError,
        UpdateModeError,
        UsageError,
        VersionConflictError,
    )
    from recollect.formation.config import (
        Assistants,
        FormationLimits,
        FormationSettings,
        ModelPrices,
    )
    from recollect.formation.derived_memories import DerivedChange, MemoryVersion
    from recollect.formation.operation_outcomes import OperationOutcome
    from recollect.formation.operations import FaultKind, RefusedCall
    from recollect.formation.prompt_texts import FormationPrompts, PromptLanguage
    from recollect.formation.review_records import LaterWords, WaitingMemory
    from recollect.formation.types import MemoryType, UpdateMode
    from recollect.lifecycle.record_import import RecordCallback, RecordNote
    from recollect.memory.embedder_strength import Tuning
    from recollect.memory.facade import Recollect, open  # noqa: A004 (users write recollect.open)
    from recollect.memory.scope_locks import ScopeLocks
    from recollect.memory.thread_state import AttachmentInfo
    from recollect.messages.new_message import NewMessageLike
    from recollect.models import ModelChoice
    from recollect.observability.health import (
        BackgroundTasks,
        Health,
        HealthStatus,
        StoreHealth,
        TaskError,
        TaskHealth,
        TaskState,
    )
    from recollect.ports import (
        Clock,
        Embedder,
        Ids,
        Model,
        OutsideVectors,
        Reranker,
        TokenCounter,
        Vector,
    )
    from recollect.recall.context import (
        Context,
        ContextEntry,
        LeftOut,
        LeftOutReason,
        ProfileDocument,
        context_guide,
    )
    from recollect.recall.neighbours import Neighbour
    from recollect.recall.query import Where
    from recollect.recall.recall_packing import DropReason
    from recollect.recall.results import DroppedEntry, Recall, Recalled
    from recollect.recall.strength_sample import SampleLike, SampleQuestion
    from recollect.records import (
        Attachment,
        DeleteMemory,
        EndMemory,
        Evidence,
        EvidenceKind,
        EvidenceMap,
        FileLines,
        Formation,
        FormationAction,
        FormationStatus,
        Json,
        JsonObject,
        Lane,
        Memory,
        MemoryAddress,
        MemoryState,
        Message,
        NewMessage,
        Page,
        PutMemory,
        Revision,
        Role,
        Scope,
        ScopeLike,
        Thread,
        Trust,
        Write,
    )
    from recollect.rerankers import RerankChoice
    from recollect.side_records import SideWrite
    from recollect.stores.contract.base import Store
    from recollect.stores.contract.durability import Durability
    from recollect.stores.contract.scopes import ScopePattern
    from recollect.stores.plans.audit import AuditEntry, AuditVerdict
    from recollect.stores.plans.due_times import Debounce
    from recollect.stores.plans.erase_targets import (
        EraseExpired,
        EraseMemory,
        EraseMessages,
        EraseReceipt,
        EraseScope,
        EraseSource,
        EraseTarget,
        EraseThread,
    )
    from recollect.stores.plans.quotations import Quotation
    from recollect.stores.plans.undo import Undo, UndoLog
    from recollect.stores.unit_of_work import Proviso
    from recollect.sync.facade import SyncRecollect, open_sync
    from recollect.worker.consolidation_result import ConsolidationEnding, ConsolidationResult
    from recollect.worker.formation_result import FormationEnding, FormationResult
    from recollect.worker.loop import Worker
    from recollect.worker.type_migration_run import TypeMigration
    from recollect.worker.worker_options import FormationCallback

__version__ = "0.1.0"

# The module that defines each public name: it is imported when the name is first used.
_HOMES: Final = {
    "recollect.embedders": "EmbedderChoice",
    "recollect.errors": (
        "ConflictError EmbedderError LeaseLostError LimitError MissingExtraError ModelError"
        " NotFoundError RecollectError StoreClosedError StoreCorruptError StoreError"
        " StoreFullError StoreReadOnlyError StoreUnavailableError StoreVersionError"
        " UpdateModeError UsageError VersionConflictError"
    ),
    "recollect.formation.config": "Assistants FormationLimits FormationSettings ModelPrices",
    "recollect.formation.derived_memories": "DerivedChange MemoryVersion",
    "recollect.formation.operation_outcomes": "OperationOutcome",
    "recollect.formation.operations": "FaultKind RefusedCall",
    "recollect.formation.prompt_texts": "FormationPrompts PromptLanguage",
    "recollect.formation.types": "MemoryType UpdateMode",
    "recollect.lifecycle.record_import": "RecordCallback RecordNote",
    "recollect.memory.embedder_strength": "Tuning",
    "recollect.memory.facade": "Recollect open",
    "recollect.messages.new_message": "NewMessageLike",
    "recollect.memory.scope_locks": "ScopeLocks",
    "recollect.memory.thread_state": "AttachmentInfo",
    "recollect.models": "ModelChoice",
    "recollect.observability.health": (
        "BackgroundTasks Health HealthStatus StoreHealth TaskError TaskHealth TaskState"
    ),
    "recollect.ports": "Clock Embedder Ids Model OutsideVectors Reranker TokenCounter Vector",
    "recollect.rerankers": "RerankChoice",
    "recollect.recall.context": (
        "Context ContextEntry LeftOut LeftOutReason ProfileDocument context_guide"
    ),
    "recollect.recall.neighbours": "Neighbour",
    "recollect.recall.query": "Where",
    "recollect.recall.recall_packing": "DropReason",
    "recollect.recall.results": "DroppedEntry Recall Recalled",
    "recollect.recall.strength_sample": "SampleLike SampleQuestion",
    "recollect.records": (
        "Attachment DeleteMemory EndMemory Evidence EvidenceKind EvidenceMap FileLines"
        " Formation FormationAction FormationStatus Json JsonObject Lane Memory MemoryAddress"
        " MemoryState Message NewMessage Page PutMemory Revision Role Scope ScopeLike Thread"
        " Trust Write"
    ),
    "recollect.formation.review_records": "LaterWords WaitingMemory",
    "recollect.side_records": "SideWrite",
    "recollect.stores.contract.base": "Store",
    "recollect.stores.contract.durability": "Durability",
    "recollect.stores.contract.scopes": "ScopePattern",
    "recollect.stores.plans.audit": "AuditEntry AuditVerdict",
    "recollect.stores.plans.due_times": "Debounce",
    "recollect.stores.plans.erase_targets": (
        "EraseExpired EraseMemory EraseMessages EraseReceipt EraseScope EraseSource EraseTarget"
        " EraseThread"
    ),
    "recollect.stores.plans.quotations": "Quotation",
    "recollect.stores.plans.undo": "Undo UndoLog",
    "recollect.stores.unit_of_work": "Proviso",
    "recollect.sync.facade": "SyncRecollect open_sync",
    "recollect.worker.consolidation_result": "ConsolidationEnding ConsolidationResult",
    "recollect.worker.formation_result": "FormationEnding FormationResult",
    "recollect.worker.loop": "Worker",
    "recollect.worker.type_migration_run": "TypeMigration",
    "recollect.worker.worker_options": "FormationCallback",
}

__all__ = [
    "Assistants",
    "Attachment",
    "AttachmentInfo",
    "AuditEntry",
    "AuditVerdict",
    "BackgroundTasks",
    "Clock",
    "ConflictError",
    "ConsolidationEnding",
    "ConsolidationResult",
    "Context",
    "ContextEntry",
    "Debounce",
    "DeleteMemory",
    "DerivedChange",
    "DropReason",
    "DroppedEntry",
    "Durability",
    "Embedder",
    "EmbedderChoice",
    "EmbedderError",
    "EndMemory",
    "EraseExpired",
    "EraseMemory",
    "EraseMessages",
    "EraseReceipt",
    "EraseScope",
    "EraseSource",
    "EraseTarget",
    "EraseThread",
    "Evidence",
    "EvidenceKind",
    "EvidenceMap",
    "FaultKind",
    "FileLines",
    "Formation",
    "FormationAction",
    "FormationCallback",
    "FormationEnding",
    "FormationLimits",
    "FormationPrompts",
    "FormationResult",
    "FormationSettings",
    "FormationStatus",
    "Health",
    "HealthStatus",
    "Ids",
    "Json",
    "JsonObject",
    "Lane",
    "LaterWords",
    "LeaseLostError",
    "LeftOut",
    "LeftOutReason",
    "LimitError",
    "Memory",
    "MemoryAddress",
    "MemoryState",
    "MemoryType",
    "MemoryVersion",
    "Message",
    "MissingExtraError",
    "Model",
    "ModelChoice",
    "ModelError",
    "ModelPrices",
    "Neighbour",
    "NewMessage",
    "NewMessageLike",
    "NotFoundError",
    "OperationOutcome",
    "OutsideVectors",
    "Page",
    "ProfileDocument",
    "PromptLanguage",
    "Proviso",
    "PutMemory",
    "Quotation",
    "Recall",
    "Recalled",
    "Recollect",
    "RecollectError",
    "RecordCallback",
    "RecordNote",
    "RefusedCall",
    "RerankChoice",
    "Reranker",
    "Revision",
    "Role",
    "SampleLike",
    "SampleQuestion",
    "Scope",
    "ScopeLike",
    "ScopeLocks",
    "ScopePattern",
    "SideWrite",
    "Store",
    "StoreClosedError",
    "StoreCorruptError",
    "StoreError",
    "StoreFullError",
    "StoreHealth",
    "StoreReadOnlyError",
    "StoreUnavailableError",
    "StoreVersionError",
    "SyncRecollect",
    "TaskError",
    "TaskHealth",
    "TaskState",
    "Thread",
    "TokenCounter",
    "Trust",
    "Tuning",
    "TypeMigration",
    "Undo",
    "UndoLog",
    "UpdateMode",
    "UpdateModeError",
    "UsageError",
    "Vector",
    "VersionConflictError",
    "WaitingMemory",
    "Where",
    "Worker",
    "Write",
    "context_guide",
    "open",
    "open_sync",
]


__getattr__ = lazy_exports("recollect", _HOMES)
