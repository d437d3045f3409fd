/** What the service refused, in the reader's language by the code of its reason. */

import type { Reason } from "../api/problem";
import type { Word } from "../words";

export type Say = (word: Word, values?: Record<string, string | number>) => string;

/** The reasons that the service names by a code, and of its errors those whose facts say all. */
export const REASONS = [
  "unknown_zone", "expiry_past", "key_rotated", "lacks_permission", "cannot_grant", "scope_reserved", "unknown_permissions", "outside_scope",
  "erase_changed", "confirmation_old", "expired_at_once", "key_revoked_since", "undo_too_old", "replaces_itself", "invalid_value", "no_model",
  "ends_before_it_begins", "undo_erased", "undo_derived", "message_empty", "message_exists", "request_reused", "request_erased", "not_given_up",
  "scope_empty", "control_character", "unreadable_character", "in_the_future", "query_empty", "budget_too_small", "nothing_to_remember",
  "line_too_long", "no_record", "record_of_export", "below_forbidden", "empty_file", "utf16", "after_document", "cut_file", "swollen", "damaged",
  "not_utf8", "broken_zip", "zip_too_many", "zip_without_json", "zip_encrypted", "no_time", "time_out_of_range", "not_text", "unknown_role",
  "circle", "no_object", "no_message", "bad_content", "message_missing", "no_memory_row", "memory_repeated", "memory_exists", "nested", "limit",
  "version_conflict", "version_conflict_of", "quota", "update_mode", "missing_extra", "not_json", "unknown_form", "broken_document", "cut_document", "cut_line", "unknown_text",
  "parts_erased", "settings_left_out", "unfounded", "undo_nothing", "undo_forgotten", "undo_overtaken", "undo_replaced", "change_overtaken",
] as const;

/** The codes of the service's errors that are rare: their words come with the first of them. */
export const LATE_CODES = [
  "error", "missing_key", "missing_extra", "update_mode", "gone", "repeated_request", "proposal_refused", "service_version", "store", "version",
  "usage", "limit", "conflict", "version_conflict", "stale_read", "lease_lost", "embedder", "full", "read_only", "corrupt",
  "closed", "no_path", "no_method", "request", "body", "encoding", "host", "origin", "media_type", "not_ready", "slow", "timeout",
] as const;

/** What a line of a file may be, where one is not known how to begin. */
const LINE = '{"role": "user", "content": "…"}';

/** A reason as people read it; nothing if its code is not known here, or its words are not there. */
export function whyRefused({ code, values }: Reason, t: Say): string {
  const known = REASONS.find((each) => each === code);
  if (!known) return "";
  const rounded = Object.fromEntries(Object.entries(values).map(([name, value]) => [name, typeof value === "number" ? Math.ceil(value) : value] as const));
  return t(`refusal.${known}`, { ...rounded, ...(known === "quota" && quotaOf(rounded, t)), example: LINE });
}

const QUOTAS = ["messages_a_day", "memories_a_day", "bytes_a_day", "requests_a_second", "streams_max"] as const;

/** What a quota limits, in words, and how many of it. */
function quotaOf({ limit_name: name, limit = "" }: Readonly<Record<string, string | number>>, t: Say): Record<string, string | number> {
  const known = QUOTAS.find((each) => each === name);
  return { count: limit, ...(known && { limit_name: t(`limit.${known}`) }) };
}
