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
  const { scope = [], params = {}, query = {}, body, expected, idempotency_key, ...call } = parts;
  const names = params as Record<string, string>;
  const segments = typeof scope === "string" ? [scope] : scope;
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
