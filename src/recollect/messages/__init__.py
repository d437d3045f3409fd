"""Functions over lists of messages, of our own classes or of langchain-core's."""

from __future__ import annotations

from recollect.messages.coercion import MessageLike, coerced, coerced_all
from recollect.messages.compaction import Compaction, CompactionLimits, compacted, plan_compaction
from recollect.messages.context_window import trim_messages
from recollect.messages.message_fields import AnyMessage, changed, is_message, kind_of, text_of
from recollect.messages.message_records import message_of, record_of
from recollect.messages.message_runs import merge_message_runs
from recollect.messages.message_types import (
    OWN_CLASSES,
    AIMessage,
    ChatMessage,
    FunctionMessage,
    HumanMessage,
    MessageClasses,
    RemoveMessage,
    SystemMessage,
    ToolMessage,
    message_classes,
)
from recollect.messages.pairs import tool_pairs, whole_pairs
from recollect.messages.reducers import REMOVE_ALL_MESSAGES, Keep, add_messages, keep_range
from recollect.messages.selection_filters import filter_messages
from recollect.messages.summarization import (
    SummarizedMessages,
    SummaryPlan,
    is_summary,
    plan_summary,
    summarised,
    summarize_conversation,
    summary_of,
)
from recollect.messages.token_counters import (
    CountingModel,
    MessageCounter,
    count_tokens_approximately,
    estimated,
    rough_tokens,
)
from recollect.messages.transcript import buffer_string

__all__ = [
    "OWN_CLASSES",
    "REMOVE_ALL_MESSAGES",
    "AIMessage",
    "AnyMessage",
    "ChatMessage",
    "Compaction",
    "CompactionLimits",
    "CountingModel",
    "FunctionMessage",
    "HumanMessage",
    "Keep",
    "MessageClasses",
    "MessageCounter",
    "MessageLike",
    "RemoveMessage",
    "SummarizedMessages",
    "SummaryPlan",
    "SystemMessage",
    "ToolMessage",
    "add_messages",
    "buffer_string",
    "changed",
    "coerced",
    "coerced_all",
    "compacted",
    "count_tokens_approximately",
    "estimated",
    "filter_messages",
    "is_message",
    "is_summary",
    "keep_range",
    "kind_of",
    "merge_message_runs",
    "message_classes",
    "message_of",
    "plan_compaction",
    "plan_summary",
    "record_of",
    "rough_tokens",
    "summarised",
    "summarize_conversation",
    "summary_of",
    "text_of",
    "tool_pairs",
    "trim_messages",
    "whole_pairs",
]
