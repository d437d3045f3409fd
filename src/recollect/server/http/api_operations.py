"""Names and responses of the service's operations in its OpenAPI document."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from recollect.server.http.event_streams import MEDIA_TYPE as EVENTS
from recollect.server.schemas import administration as administered
from recollect.server.schemas import contexts, langgraph, memories
from recollect.server.schemas import formation as formed
from recollect.server.schemas import recall as recalled
from recollect.server.schemas import threads as talk
from recollect.server.schemas.elements import InfoResponse, OkResponse, StatusResponse
from recollect.wire.record_digests import LINES

_ONE: Final = "/v1/memories/{type}/{key}"
_THREAD: Final = "/threads/{thread_id}"
_RUN: Final = f"{_THREAD}/runs/{{run_id}}"


@dataclass(frozen=True, slots=True)
class Documented:
    """
    An operation: its id, after which generated clients name their method, and its response.

    *answer* is the type of a JSON response, *stream* the media type of any other. Without either
    the operation responds with 204.
    """

    id: str
    answer: Any = None
    stream: str | None = None


OPERATIONS: Final[Mapping[tuple[str, str], Documented]] = {
    ("get", "/v1/threads"): Documented("list_threads", talk.ThreadsResponse),
    ("get", "/v1/threads/{thread}"): Documented("get_thread", talk.ThreadResponse),
    ("get", "/v1/threads/{thread}/messages"): Documented("list_messages", talk.MessagesResponse),
    ("post", "/v1/threads/{thread}/messages"): Documented("append_messages", talk.KeptResponse),
    ("put", "/v1/threads/{thread}/messages/{message}"): Documented(
        "replace_message", talk.MessageResponse
    ),
    ("delete", "/v1/threads/{thread}/messages/{message}"): Documented("remove_message"),
    ("post", "/v1/recall"): Documented("recall", recalled.RecallResponse),
    ("delete", "/v1/recalls"): Documented("forget_recalls"),
    ("post", "/v1/context"): Documented("context", contexts.ContextResponse),
    ("get", "/v1/overview"): Documented("get_overview", memories.OverviewResponse),
    ("get", "/v1/memories"): Documented("list_memories", memories.MemoriesResponse),
    ("get", "/v1/review"): Documented("list_review", memories.ReviewResponse),
    ("get", _ONE): Documented("get_memory", memories.MemoryResponse),
    ("put", _ONE): Documented("put_memory", memories.ChangedMemoryResponse),
    ("delete", _ONE): Documented("delete_memory"),
    ("get", f"{_ONE}/history"): Documented("get_memory_history", memories.HistoryResponse),
    ("get", f"{_ONE}/recalls"): Documented("list_memory_recalls", memories.MemoryUsesResponse),
    ("post", "/v1/remember"): Documented("remember", memories.MemoryResponse),
    ("post", f"{_ONE}/approve"): Documented("approve_memory", memories.ChangedMemoryResponse),
    ("post", f"{_ONE}/reject"): Documented("reject_memory", memories.ChangedMemoryResponse),
    ("post", f"{_ONE}/restore"): Documented("restore_memory", memories.ChangedMemoryResponse),
    ("post", f"{_ONE}/end"): Documented("end_memory", memories.ChangedMemoryResponse),
    ("post", "/v1/memories/change"): Documented(
        "change_memories", memories.ChangedMemoriesResponse
    ),
    ("post", "/v1/undo"): Documented("undo_change"),
    ("get", "/v1/types"): Documented("list_types", memories.TypesResponse),
    ("put", "/v1/types"): Documented("replace_types", memories.TypesResponse),
    ("post", "/v1/types/check"): Documented("check_types", memories.CheckResponse),
    ("get", "/v1/formation/pending"): Documented("list_pending", formed.PendingResponse),
    ("post", "/v1/form"): Documented("form", formed.FormResponse),
    ("post", "/v1/formation/pause"): Documented("pause_formation", formed.SteeredResponse),
    ("post", "/v1/formation/resume"): Documented("resume_formation", formed.SteeredResponse),
    ("post", "/v1/formation/retry"): Documented("retry_formation", formed.RetriedResponse),
    ("get", "/v1/formations"): Documented("list_formations", formed.FormationsResponse),
    ("get", "/v1/formations/{formation}"): Documented("get_formation", formed.FormationResponse),
    ("get", "/v1/export"): Documented("export_records", stream=LINES),
    ("post", "/v1/import"): Documented("import_records", formed.ImportResponse),
    ("post", "/v1/import/file"): Documented("import_file", stream=EVENTS),
    ("post", "/v1/erase/preview"): Documented("preview_erase", formed.PreviewResponse),
    ("post", "/v1/erase"): Documented("erase", formed.ReceiptResponse),
    ("get", "/v1/erase/receipts"): Documented("list_erase_receipts", formed.ReceiptsResponse),
    ("get", "/v1/changes"): Documented("watch_changes", stream=EVENTS),
    ("post", "/v1/chat"): Documented("chat", stream=EVENTS),
    ("get", "/v1/me"): Documented("get_me", administered.MeResponse),
    ("get", "/v1/scopes"): Documented("list_scopes", administered.ScopesResponse),
    ("get", "/v1/usage"): Documented("get_usage", administered.UsageResponse),
    ("get", "/v1/audit"): Documented("list_audit", administered.AuditResponse),
    ("get", "/v1/audit/verify"): Documented("verify_audit", administered.VerdictResponse),
    ("get", "/v1/keys"): Documented("list_keys", administered.KeysResponse),
    ("post", "/v1/keys"): Documented("create_key", administered.NewKeyResponse),
    ("delete", "/v1/keys/{id}"): Documented("revoke_key"),
    ("post", "/v1/keys/{id}/rotate"): Documented("rotate_key", administered.NewKeyResponse),
    ("get", "/v1/graph"): Documented("get_graph", administered.GraphResponse),
    ("get", "/v1/health"): Documented("get_health", administered.HealthResponse),
    ("get", "/health/live"): Documented("get_liveness", StatusResponse),
    ("get", "/health/ready"): Documented("get_readiness", administered.ReadyResponse),
    ("get", "/metrics"): Documented("get_metrics", stream="text/plain"),
    ("get", "/ok"): Documented("get_ok", OkResponse),
    ("get", "/info"): Documented("get_info", InfoResponse),
    ("put", "/store/items"): Documented("put_langgraph_item"),
    ("get", "/store/items"): Documented("get_langgraph_item", langgraph.ItemResponse | None),
    ("delete", "/store/items"): Documented("delete_langgraph_item"),
    ("post", "/store/items/search"): Documented(
        "search_langgraph_items", langgraph.FoundItemsResponse
    ),
    ("post", "/store/namespaces"): Documented(
        "list_langgraph_namespaces", langgraph.NamespacesResponse
    ),
    ("post", "/assistants/search"): Documented(
        "search_langgraph_assistants", list[langgraph.AssistantResponse]
    ),
    ("get", "/assistants/{assistant_id}"): Documented(
        "get_langgraph_assistant", langgraph.AssistantResponse
    ),
    ("post", "/threads"): Documented("create_langgraph_thread", langgraph.GraphThreadResponse),
    ("post", "/threads/search"): Documented(
        "search_langgraph_threads", list[langgraph.GraphThreadResponse]
    ),
    ("get", _THREAD): Documented("get_langgraph_thread", langgraph.GraphThreadResponse),
    ("patch", _THREAD): Documented("update_langgraph_thread", langgraph.GraphThreadResponse),
    ("delete", _THREAD): Documented("delete_langgraph_thread"),
    ("get", f"{_THREAD}/state"): Documented(
        "get_langgraph_thread_state", langgraph.ThreadStateResponse
    ),
    ("post", "/runs"): Documented("create_langgraph_run", langgraph.GraphRunResponse),
    ("post", "/runs/wait"): Documented("wait_langgraph_run", langgraph.ThreadValues),
    ("post", f"{_THREAD}/runs"): Documented(
        "create_langgraph_thread_run", langgraph.GraphRunResponse
    ),
    ("get", f"{_THREAD}/runs"): Documented(
        "list_langgraph_thread_runs", list[langgraph.GraphRunResponse]
    ),
    ("post", f"{_THREAD}/runs/wait"): Documented(
        "wait_langgraph_thread_run", langgraph.ThreadValues
    ),
    ("get", _RUN): Documented("get_langgraph_thread_run", langgraph.GraphRunResponse),
    ("delete", _RUN): Documented("delete_langgraph_thread_run"),
    ("post", f"{_RUN}/cancel"): Documented("cancel_langgraph_thread_run"),
    ("get", f"{_RUN}/join"): Documented("join_langgraph_thread_run", langgraph.ThreadValues),
}
"""Every operation by its method and path."""
