/** The shapes that the service answers with: one interface for each answer of `/v1` that is read. */

export type Json = null | boolean | number | string | Json[] | { [name: string]: Json };
export type JsonObject = { [name: string]: Json };
export type Scope = string[];

export interface Me {
  version: string;
  scope: Scope;
  prefix?: Scope;
  permissions: string[];
  model: string | null;
  embedder: string | null;
  assistants: string[];
  quiet_s: number;
  /** An id of the store. */
  store?: string;
  /** Whether the store is removed when the service stops. */
  temporary?: boolean;
  limits: Record<string, number>;
}

export interface Thread {
  scope: Scope;
  id: string;
  created_at: string;
  last: number;
  count: number;
  formed: number;
  due: string | null;
  due_in_s: number | null;
  attempts: number;
  state: "active" | "paused";
  waiting: number;
}

export interface Message {
  thread: string;
  id: string;
  position: number;
  role: "user" | "assistant" | "system" | "tool";
  text: string;
  name: string | null;
  time: string;
  session?: string | null;
  source?: string | null;
  metadata?: JsonObject;
}

export interface Evidence {
  thread: string;
  message: string;
  quote?: string | null;
  /** A message if it is not said; what an agent found, itself or in a file. */
  kind?: "message" | "agent" | "file";
  file?: FileLines | null;
}

export interface FileLines {
  path: string;
  line: number;
  last_line?: number | null;
  digest?: string | null;
}

export type EvidenceMap = Record<string, Evidence[]>;
export type MemoryState = "active" | "quarantined" | "rejected";

export interface Memory {
  scope: Scope;
  type: string;
  key: string;
  value: JsonObject;
  text: string;
  /** What it says, for people. */
  sentence: string;
  version: number;
  created_at: string;
  updated_at: string;
  valid_from: string | null;
  valid_until: string | null;
  expires_at: string | null;
  evidence: EvidenceMap;
  trust: string;
  state: MemoryState;
  said_at: string | null;
}

/** What was said about the same after a memory began to wait for review. */
export interface LaterWords {
  /** What says it, and is in force; or what a message ended. */
  memory: Memory;
  /** What of it bears on the one that waits, for people. */
  sentence: string;
  said_at: string;
  /** The newest message behind it; none where somebody wrote it by hand. */
  evidence: Evidence | null;
  ended: boolean;
}

/** A memory that waits for review. */
export interface WaitingMemory extends Memory {
  since: LaterWords[];
}

/** How many memories a listing in an order has in all. */
export interface MemoryCounts {
  total: number;
  types: Record<string, number>;
  states: Partial<Record<MemoryState, number>>;
  recalls: number[] | null;
}

export interface Revision {
  version: number;
  value: JsonObject;
  text: string;
  sentence: string;
  valid_from: string | null;
  valid_until: string | null;
  evidence: EvidenceMap;
  trust: string;
  state: MemoryState;
  cause: string;
  believed_from: string;
  believed_until: string | null;
}

/** A memory that was written lately, with the value that it had before. */
export interface NewestMemory {
  memory: Memory;
  former: JsonObject | null;
}

export interface RecallCount {
  memory: Memory;
  count: number;
  query: string;
  at: string;
}

/** The words that the fields of a memory rest on, by pointer. */
export interface FieldQuotes {
  type: string;
  key: string;
  fields: Record<string, string>;
}

export interface Overview {
  profiles: Memory[];
  known: Memory[];
  quotes: FieldQuotes[];
  newest: NewestMemory[];
  waiting: Memory[];
  more_waiting: boolean;
  recalled: RecallCount[];
  below: Scope[];
}

export interface MemoryType {
  name: string;
  description: string;
  update_mode: "patch" | "insert";
  parameters: JsonObject;
}

export interface Complaint {
  path: string;
  message: string;
}

export interface Signal {
  name: string;
  z: number;
  weight: number;
  part: number;
}

export interface RecallEntry {
  kind: "message" | "memory";
  id?: string;
  type?: string;
  key?: string;
  thread?: string | null;
  role?: string | null;
  text: string;
  /** Of a memory: what it says. */
  sentence?: string;
  /** Of a message: whether nothing of it holds any more. */
  has_lapsed?: boolean;
  time: string;
  score: number;
  /** How likely it bears on the query, from 0 to 1. */
  relevance: number;
  signals: Signal[];
  tokens: number;
  reason?: string;
  /** All that is kept of it, where that was asked for. */
  content?: Memory | Message | null;
}

/** What a model was given for an answer; *tokens* are estimated. */
export interface Prompt {
  system: string;
  turns: { role: "user" | "assistant"; text: string }[];
  tokens: number;
}

export interface RecallAnswer {
  query: string;
  entries: RecallEntry[];
  dropped: RecallEntry[];
  tokens: number;
  partial: boolean;
  searched?: number;
  eligible?: number;
  ms: number;
  reranker?: string | null;
  rendered?: string | null;
  /** About how many tokens the whole prompt has; `tokens` are those of the entries' texts. */
  rendered_tokens?: number | null;
}

export interface RecallUse {
  at: string;
  query: string;
  rank: number;
  score: number;
}

export interface Pending {
  scope: Scope;
  thread: string;
  messages: number;
  due: string | null;
  due_in_s: number | null;
  attempts: number;
  state: string;
  reason: string | null;
}

export interface Outcome {
  action: string;
  type: string;
  key: string;
  reason?: string;
  /** The messages for which it was done, where the evidence of the memory does not name them. */
  because?: { thread: string; message: string }[];
}

export interface Formation {
  scope: Scope;
  id: string;
  status: "formed" | "failed" | "dead" | "redriven" | "consolidated";
  at: string;
  calls: number;
  tokens: number;
  watermarks: Record<string, number>;
  failed: Record<string, number[]>;
  receipt: {
    /** The messages of each thread that it read. */
    read?: Record<string, string[]>;
    model?: string | null;
    messages?: number;
    counts?: Record<string, number>;
    outcomes?: Outcome[];
    outcomes_left_out?: number;
    refused?: { kind: string; reason: string; type?: string; target?: string }[];
    refused_left_out?: number;
    reason?: string;
    /** Its content went with something that was erased: which memories it changed is left. */
    erased?: boolean;
  };
}

/** What came of asking to form now; what was postponed, or is formed by others, has no receipt. */
export interface FormAnswer {
  formations: Formation[];
  results: { end: "formed" | "failed" | "postponed" | "dead" | "lost"; reason: string }[];
}

export interface Backlog {
  pending: Pending[];
  paused: boolean;
  breaker: Json;
  /** There are more that wait. */
  cursor?: string | null;
}

export interface Key {
  id: string;
  name: string;
  scope: Scope;
  permissions: string[];
  created_at: string;
  expires_at: string | null;
  last_used_at: string | null;
  key?: string;
}

export interface GraphNode {
  id: string;
  name: string;
  kind: string | null;
}

export interface GraphEdge {
  from: string;
  to: string;
  predicate: string;
  fact: string | null;
  valid_from: string | null;
  valid_until: string | null;
}

export interface Graph {
  nodes: GraphNode[];
  edges: GraphEdge[];
  more: boolean;
}

export type EraseTarget =
  | { scope: true }
  | { thread: string }
  | { message: { thread: string; id: string } }
  | { messages: { thread: string; ids: string[] } }
  | { memory: { type: string; key: string } }
  | { source: string };

/** How much an erase takes; *revised* are memories that lose a part. */
export interface EraseCounts {
  messages: number;
  memories: number;
  revised: number;
}

export interface ErasePreview extends EraseCounts {
  confirm: string;
  expires_at: string;
  /** The messages that stay and quote what goes; of a memory also those that it rests on. */
  quoted_in: Quotation[];
}

export interface Quotation {
  thread: string;
  message: string;
  role: Message["role"];
  time: string;
  quote: string;
  /** Whether it repeats what goes; otherwise it merely begins in the same way, and stays unless it is ticked. */
  likely: boolean;
}

export interface EraseReceipt extends EraseCounts {
  id: string;
  erased_at: string;
  clean_at: string | null;
}

/** A reason in the service's words, with its code where it has one. */
export interface CodedReason {
  reason: string;
  reason_code?: string;
  values?: Record<string, string | number>;
}

export interface Imported {
  taken: number;
  refused: (CodedReason & { line: number })[];
  refused_count: number;
  changed: (CodedReason & { line: number })[];
  changed_count: number;
  erased_count: number;
  threads?: number;
  /** The first of its threads. */
  first_threads?: { scope: Scope; id: string }[];
}

/** How far the import of a file is; *fraction* is of its bytes, null where that is not known. */
export interface FileProgress {
  rows: number;
  fraction: number | null;
}

export interface FileReport {
  name: string;
  rows: number;
  taken: number;
  present: number;
  refused: (CodedReason & { place: string })[];
  refused_count: number;
  /** What was kept otherwise than the file has it: how often, by a sentence each. */
  changed: Record<string, number>;
  erased_count: number;
  threads: number;
  /** The first of its threads, by name. */
  first_threads?: { scope: Scope; id: string }[];
  memories: number;
  undated: number;
  zoneless: number;
  is_cut: boolean;
  is_stopped: boolean;
}

export interface AuditRow {
  n: number;
  at: string;
  actor: string;
  action: string;
  /** Internal ids by kind. */
  subject?: JsonObject;
  /** Of the objects that still exist. */
  names?: string[];
  description: string;
  hash: string;
}

/** How a background task of the process that answers is. */
export interface TaskHealth {
  name: string;
  state: "running" | "failing" | "stopped";
  last_success: string | null;
  last_error: { type: string; text: string; at: string } | null;
  /** In a row, up to now. */
  failures: number;
  retry_at: string | null;
  /** How much waits for it, null where nothing is counted. */
  backlog: number | null;
}

export interface Health {
  status: "ok" | "degraded" | "down";
  at: string;
  store: { state: string; latency_ms: number | null };
  tasks: TaskHealth[];
}
