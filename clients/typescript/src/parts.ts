import { RecollectError } from "./errors.js";
import type { Scope, WriteOptions } from "./operations.js";
import { type CallOptions, type ServiceRequest, usage } from "./requests.js";
import type { NewMessage } from "./schema.js";

/** A message, or the text of one of the user's. */
export type NewMessageLike = NewMessage | string;

interface Parts extends WriteOptions {
  scope?: Scope;
  params?: unknown;
  query?: unknown;
  body?: unknown;
  expected?: number;
}

/** Return the request to a route: its path filled in, its scope and its headers. */
export function requestOf(verb: string, path: string, parts: Parts): ServiceRequest {
  const { scope, params = {}, query = {}, body, expected, idempotency_key, ...call } = parts;
  const names = params as Record<string, string>;
  // A scope that is there but undefined is a user's id that is missing, not the whole scope of the key.
  const segments = "scope" in parts ? segmentsOf(scope) : [];
  return {
    ...call,
    method: verb.toUpperCase(),
    path: path.replace(/\{(\w+)\}/g, (_, name: string) => named(names[name] ?? "")),
    query: [...segments.map((each) => ["scope", each] as const), ...Object.entries(query as object)],
    headers: {
      ...(verb === "get" ? {} : { "idempotency-key": idempotency_key ?? madeKey() }),
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...(expected === undefined ? {} : expected ? { "if-match": `"${expected}"` } : { "if-none-match": "*" }),
    },
    body: body === undefined ? undefined : JSON.stringify(body),
    // The others read, or the service knows them again by their key, or has the records already.
    isRepeatable: path !== "/v1/form",
  };
}

/** Return the segments of a scope; plain JavaScript passes anything. */
function segmentsOf(scope: unknown): readonly string[] {
  if (typeof scope === "string") return [segmentOf(scope)];
  if (Array.isArray(scope)) return Array.from(scope, segmentOf); // not `map`, which skips holes
  const hint = typeof scope === "number" ? `; give '${scope}' as a text` : "";
  throw usage(`a scope is a text or a list of texts, such as "ada" or ["users", "ada"], not ${told(scope)}${hint}`);
}

function segmentOf(segment: unknown): string {
  if (typeof segment === "string" && segment) return segment;
  throw usage(`each part of a scope is a text of at least one character, such as "ada", not ${told(segment)}`);
}

/** Return a wrong value as an error shows it. */
function told(value: unknown): string {
  return typeof value === "object" && value !== null ? (Array.isArray(value) ? "a list" : "an object") : value === "" ? '""' : String(value);
}

/** Return a request that sends records, a line each. */
export function withLines(request: ServiceRequest, records: readonly unknown[]): ServiceRequest {
  const body = records.map((each) => JSON.stringify(each)).join("\n");
  return { ...request, body, headers: { ...request.headers, "content-type": "application/x-ndjson" } };
}

/** Return a name as it stands in a path. `fetch` takes `.` and `..` for steps, however they are written. */
function named(name: string): string {
  if (/^\.{0,2}$/.test(name)) throw usage(`'${name}' cannot stand in an address: give another name`);
  try {
    return encodeURIComponent(name);
  } catch {
    throw usage("a name holds half a character, which is no text");
  }
}

/** Not `crypto.randomUUID`, which pages without TLS lack. */
function madeKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (each) => each.toString(16).padStart(2, "0")).join("");
}

/** Part the options of a method: what is sent, and how the call is made. */
export function parted<O extends WriteOptions>(options: O): [Omit<O, keyof WriteOptions>, WriteOptions & CallOptions] {
  const { signal, timeoutMs, idempotency_key, ...sent } = options;
  const call: WriteOptions = {};
  if (signal) call.signal = signal;
  if (timeoutMs !== undefined) call.timeoutMs = timeoutMs;
  if (idempotency_key) call.idempotency_key = idempotency_key;
  return [sent, call];
}

export function messageOf(message: NewMessageLike): NewMessage {
  return typeof message === "string" ? { role: "user", text: message } : message;
}

/** Return the answer, or *otherwise* for 404. */
export async function found<A, B>(answer: Promise<A>, otherwise: B): Promise<A | B> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof RecollectError && error.code === "not_found") return otherwise;
    throw error;
  }
}
