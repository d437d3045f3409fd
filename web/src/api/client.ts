/** Every request of the page: to `/v1` of the service that served it, and nowhere else. */

import { reach } from "../lib/reach";
import { tabShelf } from "../lib/storage";
import { isRare } from "../lib/refusals";
import { loadLateWords } from "../words";
import { cut, garbled, Problem, problemIn, unreachable, type ToldProblem } from "./problem";
import { eventsOf, type ServerEvent } from "./sse";
import type {
  AuditRow, Backlog, Complaint, EraseReceipt, ErasePreview, EraseTarget, FormAnswer, Formation, Graph, Health, Imported, Json, JsonObject,
  Key, Me, Memory, MemoryCounts, MemoryType, Message, Overview, RecallAnswer, RecallUse, Revision, Scope, Thread,
  WaitingMemory,
} from "./shapes";

const KEY_NAME = "recollect.key";

export interface Listed {
  cursor: string | null;
}

type Query = Record<string, string | number | boolean | null | undefined>;

export interface RequestOptions {
  scope?: Scope;
  query?: Query;
  body?: unknown;
  file?: Blob;
  mediaType?: string;
  version?: number;
  idempotencyKey?: string;
  /** The place in a stream of events after which it goes on. */
  after?: string;
  signal?: AbortSignal;
}

const refusedWatchers = new Set<(problem: Problem) => void>();

/** Call back whenever the key is refused; the answer gives that up. */
export function watchRefusedKey(watcher: (problem: Problem) => void): () => void {
  refusedWatchers.add(watcher);
  return () => void refusedWatchers.delete(watcher);
}

const ahead = new Map<string, Promise<Response>>();
const base = new URL(".", document.baseURI);

export function storedKey(): string | null {
  return tabShelf.get(KEY_NAME);
}

export function storeKey(key: string | null): void {
  ahead.clear();
  tabShelf.set(KEY_NAME, key || null);
}

export function addressOf(path: string, scope: Scope = [], query: Query = {}): string {
  const url = new URL(`v1/${path}`, base);
  for (const segment of scope) url.searchParams.append("scope", segment);
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== null && value !== "") url.searchParams.set(name, String(value));
  }
  return url.toString();
}

/** Send a request that the first screen will make before there is a screen to make it. */
export function askAhead(path: string, scope: Scope = [], query: Query = {}): void {
  const sent = send("GET", path, { scope, query });
  sent.catch(() => undefined);
  ahead.set(addressOf(path, scope, query), sent);
}

async function problemOf(response: Response): Promise<Problem> {
  const fallback = `${response.status} ${response.statusText}`.trim();
  try {
    const problem = problemIn((await response.json()) as ToldProblem, response.status, fallback);
    if (isRare(problem)) await loadLateWords().catch(() => undefined);
    return problem;
  } catch {
    return new Problem(response.status, "", fallback, "");
  }
}

async function send(method: string, path: string, options: RequestOptions = {}): Promise<Response> {
  const headers: Record<string, string> = { accept: "application/json" };
  const key = storedKey();
  if (key) headers.authorization = `Bearer ${key}`;
  if (options.version !== undefined) headers["if-match"] = `"${options.version}"`;
  if (options.after) headers["last-event-id"] = options.after;
  if (options.idempotencyKey) headers["idempotency-key"] = options.idempotencyKey;
  let body: string | Blob | undefined;
  if (options.body !== undefined) {
    headers["content-type"] = "application/json";
    body = JSON.stringify(options.body);
  } else if (options.file !== undefined) {
    headers["content-type"] = options.mediaType ?? "application/octet-stream";
    body = options.file;
  }
  let response: Response;
  try {
    response = await fetch(addressOf(path, options.scope, options.query), {
      method, headers, body, signal: options.signal, credentials: "omit", cache: "no-store",
    });
  } catch (error) {
    if (isAborted(error)) throw error;
    throw unreachable();
  }
  if (response.status < 500) reach.answered();
  if (response.ok) return response;
  const problem = await problemOf(response);
  if (problem.status === 401) for (const each of [...refusedWatchers]) each(problem);
  throw problem;
}

const isAborted = (error: unknown): boolean => error instanceof DOMException && error.name === "AbortError";

/** What reading an answer gives; an answer that breaks off is told as that. */
async function whole<T>(reading: Promise<T>): Promise<T> {
  try {
    return await reading;
  } catch (error) {
    throw isAborted(error) ? error : cut();
  }
}

/** The events of an answer, until it ends; one that breaks off is told as that. */
async function* eventsIn(response: Response, placed?: (id: string) => void): AsyncGenerator<ServerEvent> {
  if (!response.body) return;
  try {
    yield* eventsOf(response.body, placed);
  } catch (error) {
    throw isAborted(error) ? error : cut();
  }
}

async function ask<T>(method: string, path: string, options?: RequestOptions): Promise<T> {
  const address = addressOf(path, options?.scope, options?.query);
  const early = method === "GET" ? ahead.get(address) : undefined;
  ahead.delete(address);
  // What was asked ahead and failed is asked again: the service may be there by now.
  const response = await (early?.catch(() => send(method, path, options)) ?? send(method, path, options));
  if (response.status === 204) return undefined as T;
  const text = await whole(response.text());
  try {
    return (text ? JSON.parse(text) : undefined) as T;
  } catch {
    throw garbled(response.status);
  }
}

const at = (...parts: string[]): string => parts.map(encodeURIComponent).join("/");

const named = ({ type, key, version }: Pick<Memory, "type" | "key" | "version">): JsonObject => ({ type, key, version });

export interface MemoryQuery {
  type?: string;
  key?: string;
  state?: string;
  q?: string;
  filter?: string;
  valid_at?: string;
  known_at?: string;
  said_until?: string;
  order?: string;
  offset?: number;
  below?: boolean;
  cursor?: string | null;
  limit?: number;
}

export interface NewValue {
  value: JsonObject;
  text?: string;
  valid_from?: string | null;
  valid_until?: string | null;
  expires_at?: string | null;
  evidence?: Memory["evidence"];
  /** The memory that ends at `valid_from`, in the same change. */
  replaces?: Pick<Memory, "type" | "key" | "version">;
  /** When the value of a document changed: what it said so far was true until then. */
  changed_at?: string;
}

/** What a change answers besides: the token that takes it back, see `api.undo`. */
export interface Undoable {
  undo?: string | null;
}

export const api = {
  me: () => ask<Me>("GET", "me"),
  scopes: (cursor?: string | null) =>
    ask<Listed & { scopes: Scope[] }>("GET", "scopes", { query: { below: true, cursor, limit: 200 } }),

  threads: (scope: Scope, query: { cursor?: string | null; limit?: number } = {}) =>
    ask<Listed & { threads: Thread[] }>("GET", "threads", { scope, query }),
  thread: (scope: Scope, id: string) => ask<Thread>("GET", `threads/${at(id)}`, { scope }),
  messages: (scope: Scope, id: string, query: { after?: number; last?: number; before?: number; until?: string; limit?: number }) =>
    ask<Listed & { messages: Message[] }>("GET", `threads/${at(id)}/messages`, { scope, query }),
  remove: (scope: Scope, thread: string, id: string) =>
    ask<void>("DELETE", `threads/${at(thread)}/messages/${at(id)}`, { scope }),

  overview: (scope: Scope, at: { valid_at?: string; known_at?: string } = {}) => ask<Overview>("GET", "overview", { scope, query: at }),
  memories: (scope: Scope, query: MemoryQuery, signal?: AbortSignal) =>
    ask<Listed & { memories: Memory[]; counts?: MemoryCounts | null }>("GET", "memories", { scope, query: { ...query }, signal }),
  review: (scope: Scope, query: MemoryQuery) => ask<Listed & { memories: WaitingMemory[] }>("GET", "review", { scope, query: { ...query } }),
  /** Change several memories, all of them or none. */
  change: (scope: Scope, act: string, memories: readonly Pick<Memory, "type" | "key" | "version">[], idempotencyKey: string) =>
    ask<{ changed: number } & Undoable>("POST", "memories/change", { scope, query: { undo: true }, body: { act, memories: memories.map(named) }, idempotencyKey }),
  /** Take back what a message did to these memories, and to all others that its formation changed because of it. */
  undoMessage: (scope: Scope, because: { thread: string; message: string }, memories: readonly Pick<Memory, "type" | "key" | "version">[], idempotencyKey: string, undo = false) =>
    ask<{ changed: number } & Undoable>("POST", "memories/change", { scope, query: { undo }, body: { act: "undo", because, memories: memories.map(named) }, idempotencyKey }),
  memory: (scope: Scope, type: string, key: string) =>
    ask<Memory>("GET", `memories/${at(type, key)}`, { scope }),
  put: (scope: Scope, type: string, key: string, value: NewValue, version?: number, undo = false) =>
    ask<Memory & Undoable>("PUT", `memories/${at(type, key)}`, { scope, query: { undo }, body: value, version }),
  delete: (scope: Scope, type: string, key: string, version?: number, undo = false) =>
    ask<Undoable | undefined>("DELETE", `memories/${at(type, key)}`, { scope, query: { undo }, version }),
  history: (scope: Scope, type: string, key: string) =>
    ask<{ revisions: Revision[] }>("GET", `memories/${at(type, key)}/history`, { scope }),
  approve: (scope: Scope, type: string, key: string, version: number, undo = false) =>
    ask<Memory & Undoable>("POST", `memories/${at(type, key)}/approve`, { scope, query: { undo }, version }),
  reject: (scope: Scope, type: string, key: string, version?: number, pointer = "", undo = false) =>
    ask<Memory & Undoable>("POST", `memories/${at(type, key)}/reject`, { scope, query: { undo }, body: pointer ? { pointer } : {}, version }),
  restore: (scope: Scope, type: string, key: string, { version, ends = [], current }: { version: number; ends?: readonly Pick<Memory, "type" | "key" | "version">[]; current?: number }, undo = false) =>
    ask<Memory & Undoable>("POST", `memories/${at(type, key)}/restore`, { scope, query: { undo }, body: { version, ...(ends.length && { ends: ends.map(named) }) }, version: current }),
  end: (scope: Scope, type: string, key: string, moment: string, version?: number, undo = false) =>
    ask<Memory & Undoable>("POST", `memories/${at(type, key)}/end`, { scope, query: { undo }, body: { at: moment }, version }),
  /** Take a change back exactly, or nothing of it. */
  undo: (scope: Scope, token: string) => ask<void>("POST", "undo", { scope, body: { undo: token } }),
  recalls: (scope: Scope, type: string, key: string) =>
    ask<{ recalls: RecallUse[] }>("GET", `memories/${at(type, key)}/recalls`, { scope }),
  forgetRecalls: (scope: Scope) => ask<void>("DELETE", "recalls", { scope }),

  types: (scope: Scope) => ask<{ types: MemoryType[] }>("GET", "types", { scope }),
  putTypes: (scope: Scope, types: Json, undo = false) =>
    ask<{ types: MemoryType[] } & Undoable>("PUT", "types", { scope, query: { undo }, body: { types } }),
  checkTypes: (scope: Scope, types: Json, signal?: AbortSignal) =>
    ask<{ ok: boolean; complaints: Complaint[] }>("POST", "types/check", { scope, body: { types }, signal }),

  recall: (scope: Scope, body: JsonObject, signal?: AbortSignal) =>
    ask<RecallAnswer>("POST", "recall", { scope, body, signal }),

  pending: (scope: Scope, query: { below?: boolean } = {}) =>
    ask<Backlog>("GET", "formation/pending", { scope, query }),
  form: (scope: Scope, thread?: string) =>
    ask<FormAnswer>("POST", "form", { scope, body: thread ? { thread } : {} }),
  pause: (scope: Scope) => ask<{ threads: number }>("POST", "formation/pause", { scope, body: {} }),
  resume: (scope: Scope) => ask<{ threads: number }>("POST", "formation/resume", { scope, body: {} }),
  retry: (scope: Scope, thread: string) =>
    ask<{ messages: number }>("POST", "formation/retry", { scope, body: { thread } }),
  formations: (scope: Scope, cursor?: string | null, limit = 30, query: { status?: Formation["status"]; below?: boolean } = {}) =>
    ask<Listed & { formations: Formation[] }>("GET", "formations", { scope, query: { cursor, limit, ...query } }),
  formation: (scope: Scope, id: string) => ask<Formation>("GET", `formations/${at(id)}`, { scope }),

  graph: (scope: Scope, query: { entity?: string; depth?: number; limit?: number; valid_at?: string; known_at?: string }) =>
    ask<Graph>("GET", "graph", { scope, query }),

  keys: () => ask<{ keys: Key[] }>("GET", "keys"),
  makeKey: (body: JsonObject) => ask<Key>("POST", "keys", { body }),
  removeKey: (id: string) => ask<void>("DELETE", `keys/${at(id)}`),
  rotateKey: (id: string) => ask<Key>("POST", `keys/${at(id)}/rotate`, { body: {} }),
  health: () => ask<Health>("GET", "health"),
  usage: (scope: Scope) => ask<JsonObject>("GET", "usage", { scope }),
  audit: (scope: Scope, cursor?: string | null) =>
    ask<Listed & { audit: AuditRow[] }>("GET", "audit", { scope, query: { cursor, limit: 50 } }),
  verifyAudit: (scope: Scope) => ask<{ ok: boolean; rows: number; broken_at: number | null }>("GET", "audit/verify", { scope }),

  export: async (scope: Scope, below: boolean): Promise<Blob> =>
    whole((await send("GET", "export", { scope, query: { below } })).blob()),
  importRecords: (scope: Scope, file: Blob, signal: AbortSignal) =>
    ask<Imported>("POST", "import", { scope, file, mediaType: "application/x-ndjson", signal }),
  /** The events of an import of a file: `progress`, then `done` with the report, or `error`. */
  importFile: async function* (scope: Scope, file: File, timezone: string, signal: AbortSignal): AsyncGenerator<ServerEvent> {
    yield* eventsIn(await send("POST", "import/file", { scope, query: { name: file.name, timezone }, file, mediaType: "application/octet-stream", signal }));
  },
  previewErase: (scope: Scope, target: EraseTarget) =>
    ask<ErasePreview>("POST", "erase/preview", { scope, body: { target } }),
  erase: (scope: Scope, confirm: string) => ask<EraseReceipt>("POST", "erase", { scope, body: { confirm } }),
  receipts: (scope: Scope) => ask<{ receipts: EraseReceipt[] }>("GET", "erase/receipts", { scope }),

  /** The events of an answer that is being given; said again under the same key it is kept once. */
  chat: async function* (scope: Scope, body: JsonObject, idempotencyKey: string, signal: AbortSignal): AsyncGenerator<ServerEvent> {
    yield* eventsIn(await send("POST", "chat", { scope, body, idempotencyKey, signal }));
  },
  /** What changes in a scope, as it changes, or since a place; `opened` is called when the service has begun to tell, `placed` with each place. */
  changes: async function* (scope: Scope, opened: () => void, signal: AbortSignal, after = "", placed?: (id: string) => void): AsyncGenerator<ServerEvent> {
    const response = await send("GET", "changes", { scope, signal, after });
    opened();
    yield* eventsIn(response, placed);
  },
};
