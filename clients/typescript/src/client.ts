import type { Answer, Body, ChangeOptions, Query, RequestParts, Route, Scope, Verb, WriteOptions } from "./operations.js";
import { found, messageOf, type NewMessageLike, parted, requestOf, withLines } from "./parts.js";
import { type CallOptions, type ClientOptions, Requests, usage } from "./requests.js";
import type * as schema from "./schema.js";
import { type ChangeEvent, type ChatEvent, changesOf, eventsOf, type ExportedRecord, recordsOf } from "./streams.js";

type Changed = Promise<schema.ChangedMemory>;
type Stream<Item> = AsyncGenerator<Item, void, undefined>;
type Listed<P extends Route<"get">> = Query<"get", P> & CallOptions;
type Sent<P extends Route<"post">, Own extends string = never> = Omit<NonNullable<Body<"post", P>>, Own>;

const MEMORY = "/v1/memories/{type}/{key}";
const THREAD = "/v1/threads/{thread}";
const MESSAGES = `${THREAD}/messages` as const;

/**
 * A remote memory, with the methods of the Python client; fields keep the names that they have over HTTP.
 * Scopes are relative to that of the key, `[]` being the key's own; an undefined one is refused. Every method throws a
 * `RecollectError`, or the reason of its signal.
 */
export class Recollect {
  readonly #requests: Requests;

  constructor(options: ClientOptions) {
    this.#requests = new Requests(options);
  }

  /** Make a request to any route of the service, for which there is no method here. */
  async request<V extends Verb, P extends Route<V>>(
    verb: V,
    path: P,
    parts: RequestParts<V, P> = {} as RequestParts<V, P>,
  ): Promise<Answer<V, P>> {
    return (await this.#requests.json(requestOf(verb, path, parts))) as Answer<V, P>;
  }

  /** Return the key's permissions and scope, and the service's configuration. */
  me(options: CallOptions = {}): Promise<schema.Me> {
    return this.request("get", "/v1/me", options);
  }

  /** Append messages to a thread; on return they are durable. A repetition stores nothing twice. */
  async append(
    scope: Scope,
    thread: string,
    messages: NewMessageLike | readonly NewMessageLike[],
    options: Sent<typeof MESSAGES, "messages"> & WriteOptions = {},
  ): Promise<schema.Message[]> {
    const [sent, call] = parted(options);
    if (messages === undefined) throw usage("append takes a scope, a thread and messages: the messages are missing, or the thread is");
    const each = (Array.isArray(messages) ? messages : [messages]) as readonly NewMessageLike[];
    const body = { ...sent, messages: each.map(messageOf) };
    return (await this.request("post", MESSAGES, { ...call, scope, params: { thread }, body })).messages;
  }

  threads(scope: Scope, options: Listed<"/v1/threads"> = {}): Promise<schema.ThreadPage> {
    return this.#list("/v1/threads", scope, options);
  }

  thread(scope: Scope, thread: string, options: CallOptions = {}): Promise<schema.Thread | null> {
    return found(this.request("get", THREAD, { ...options, scope, params: { thread } }), null);
  }

  /** Return messages of a thread, the oldest first, or the `last` ones; none of an unknown thread. */
  messages(scope: Scope, thread: string, options: Listed<typeof MESSAGES> = {}): Promise<schema.MessagePage> {
    const [query, call] = parted(options);
    const none: schema.MessagePage = { messages: [], cursor: null };
    return found(this.request("get", MESSAGES, { ...call, scope, params: { thread }, query }), none);
  }

  /** Replace a message, by its id. */
  replace(scope: Scope, thread: string, body: schema.NewMessage, options: WriteOptions = {}): Promise<schema.Message> {
    const params = { thread, message: body.id ?? "" };
    return this.request("put", `${MESSAGES}/{message}`, { ...options, scope, params, body });
  }

  /** Remove messages of a thread, a request each; return how many there were. */
  async remove(scope: Scope, thread: string, messages: readonly string[], options: CallOptions = {}): Promise<number> {
    let count = 0;
    for (const message of messages) {
      const removing = this.request("delete", `${MESSAGES}/{message}`, { ...options, scope, params: { thread, message } });
      count += (await found(removing, null)) === null ? 0 : 1;
    }
    return count;
  }

  /** Write a memory, or its next version. */
  put(
    scope: Scope,
    type: string,
    key: string,
    value: schema.PutMemoryRequest["value"],
    options: Omit<schema.PutMemoryRequest, "value"> & ChangeOptions = {},
  ): Changed {
    const { undo, expected, ...rest } = options;
    const [sent, call] = parted(rest);
    return this.request("put", MEMORY, { ...call, expected, scope, params: { type, key }, query: { undo }, body: { ...sent, value } });
  }

  /** Keep a sentence as a `Note`; the same sentence again is the same memory. */
  remember(scope: Scope, text: string, options: Sent<"/v1/remember", "text"> & WriteOptions = {}): Promise<schema.Memory> {
    const [sent, call] = parted(options);
    return this.request("post", "/v1/remember", { ...call, scope, body: { ...sent, text } });
  }

  get(scope: Scope, type: string, key: string, options: CallOptions = {}): Promise<schema.Memory | null> {
    return found(this.request("get", MEMORY, { ...options, scope, params: { type, key } }), null);
  }

  memories(scope: Scope, options: Listed<"/v1/memories"> = {}): Promise<schema.MemoryPage> {
    return this.#list("/v1/memories", scope, options);
  }

  /** Return the versions of a memory, the oldest first; none if there is no such memory. */
  async history(scope: Scope, type: string, key: string, options: CallOptions = {}): Promise<schema.Revision[]> {
    const asked = this.request("get", `${MEMORY}/history`, { ...options, scope, params: { type, key } });
    return (await found(asked, { revisions: [] })).revisions.reverse();
  }

  /** Delete a memory with its history. That there is none is no fault: an earlier attempt may have deleted it. */
  async delete(scope: Scope, type: string, key: string, options: Omit<ChangeOptions, "undo"> = {}): Promise<void> {
    await this.request("delete", MEMORY, { ...options, scope, params: { type, key } });
  }

  /** Say since when, an ISO time, a memory is no longer true. */
  end(scope: Scope, type: string, key: string, at: string, options: ChangeOptions = {}): Changed {
    return this.#change("end", [scope, type, key], { at }, options);
  }

  /** Return what waits for review, each memory with what was said about it `since`. */
  review(scope: Scope, options: Listed<"/v1/review"> = {}): Promise<schema.ReviewPage> {
    return this.#list("/v1/review", scope, options);
  }

  /** Put a memory that waits for review in force. */
  approve(scope: Scope, type: string, key: string, options: ChangeOptions = {}): Changed {
    return this.#change("approve", [scope, type, key], undefined, options);
  }

  /** Refuse a memory, or the part of it at `pointer`, for good. */
  reject(scope: Scope, type: string, key: string, given: ChangeOptions & { pointer?: string } = {}): Changed {
    const { pointer = "", ...options } = given;
    return this.#change("reject", [scope, type, key], { pointer }, options);
  }

  /** Restore an earlier version. */
  restore(scope: Scope, type: string, key: string, version: number, options: ChangeOptions = {}): Changed {
    return this.#change("restore", [scope, type, key], { version }, options);
  }

  /** Delete, end, approve or reject several memories, or undo what a message did to them: all or none. */
  change(
    scope: Scope,
    body: schema.ChangeMemoriesRequest,
    { undo, ...call }: Omit<ChangeOptions, "expected"> = {},
  ): Promise<schema.ChangedMemories> {
    return this.request("post", "/v1/memories/change", { ...call, scope, query: { undo }, body });
  }

  /** Take a change back, by the token that it gave. */
  async undo(scope: Scope, token: string, options: WriteOptions = {}): Promise<void> {
    await this.request("post", "/v1/undo", { ...options, scope, body: { undo: token } });
  }

  /** Return the scopes at, or with `below` under, a scope that hold something. */
  scopes(scope?: Scope, options: Listed<"/v1/scopes"> = {}): Promise<schema.ScopePage> {
    // Without any argument the key's own; an undefined one is a user's id that is missing.
    return this.#list("/v1/scopes", arguments.length ? scope : [], options);
  }

  /** Return what bears on a query; `rendered` is the block for a prompt. */
  recall(scope: Scope, query: string, options: Sent<"/v1/recall", "query"> & CallOptions = {}): Promise<schema.Recall> {
    const [sent, call] = parted(options);
    return this.request("post", "/v1/recall", { ...call, scope, body: { ...sent, query } });
  }

  /** Return what the next prompt should be told; `text` goes into it. */
  context(scope: Scope, query: string, options: Sent<"/v1/context", "query"> & CallOptions = {}): Promise<schema.Context> {
    const [sent, call] = parted(options);
    return this.request("post", "/v1/context", { ...call, scope, body: { ...sent, query } });
  }

  /** Keep a turn of the user's, and yield the answer of the service's model as it is made. */
  async *chat(scope: Scope, body: schema.ChatRequest, options: WriteOptions = {}): Stream<ChatEvent> {
    const lines = this.#requests.lines(requestOf("post", "/v1/chat", { ...options, scope, body }));
    for await (const { event, data } of eventsOf(lines)) yield { event, data } as ChatEvent;
  }

  /** Form memories of what waits, of one thread or of all; it takes as long as it takes. */
  async form(scope: Scope, thread: string | null = null, options: CallOptions = {}): Promise<schema.FormationResult[]> {
    const call = { timeoutMs: Infinity, ...options };
    return (await this.request("post", "/v1/form", { ...call, scope, body: { thread } })).results;
  }

  pending(scope: Scope, options: Listed<"/v1/formation/pending"> = {}): Promise<schema.PendingPage> {
    return this.#list("/v1/formation/pending", scope, options);
  }

  formations(scope: Scope, options: Listed<"/v1/formations"> = {}): Promise<schema.FormationPage> {
    return this.#list("/v1/formations", scope, options);
  }

  /** Return what an erase would take; `confirmErase` carries it out within ten minutes. */
  previewErase(scope: Scope, target: schema.EraseTarget, options: CallOptions = {}): Promise<schema.ErasePreview> {
    return this.request("post", "/v1/erase/preview", { ...options, scope, body: { target } });
  }

  /** Erase exactly what was previewed. */
  confirmErase(scope: Scope, preview: schema.ErasePreview, options: WriteOptions = {}): Promise<schema.EraseReceipt> {
    return this.request("post", "/v1/erase", { ...options, scope, body: { confirm: preview.confirm } });
  }

  /** Erase for good, with what rests on it; preview and confirm in one. */
  async erase(scope: Scope, target: schema.EraseTarget, options: WriteOptions = {}): Promise<schema.EraseReceipt> {
    return this.confirmErase(scope, await this.previewErase(scope, target, options), options);
  }

  /** Return the receipts of erases, by time. */
  async receipts(scope?: Scope, options: Listed<"/v1/erase/receipts"> = {}): Promise<schema.EraseReceipt[]> {
    return (await this.#list("/v1/erase/receipts", arguments.length ? scope : [], options)).receipts.reverse();
  }

  /** Yield all that a scope holds as records, as they come. */
  export(scope: Scope, { below, ...call }: Listed<"/v1/export"> = {}): Stream<ExportedRecord> {
    return recordsOf(this.#requests.lines(requestOf("get", "/v1/export", { ...call, scope, query: { below } })));
  }

  /** Restore exported records; `taken` of them were stored, `refused` says which were not. */
  async importRecords(
    records: readonly ExportedRecord[],
    options: Query<"post", "/v1/import"> & CallOptions = {},
  ): Promise<schema.ImportResult> {
    const [query, call] = parted(options);
    const request = withLines(requestOf("post", "/v1/import", { ...call, query }), records);
    return (await this.#requests.json(request)) as schema.ImportResult;
  }

  /** Yield the changes of a scope from now on, or since `last_event_id`; a broken stream is opened again. */
  changes(scope: Scope, options: CallOptions & { last_event_id?: string } = {}): Stream<ChangeEvent> {
    const { last_event_id, ...call } = options;
    const request = requestOf("get", "/v1/changes", { ...call, scope });
    const opened = (id: string) => this.#requests.lines({ ...request, headers: id ? { "last-event-id": id } : {} });
    return changesOf(opened, last_event_id, call.signal);
  }

  async #list<P extends Route<"get">>(path: P, scope: Scope | undefined, options: Listed<P>): Promise<Answer<"get", P>> {
    const [query, call] = parted(options);
    return (await this.#requests.json(requestOf("get", path, { ...call, scope, query }))) as Answer<"get", P>;
  }

  async #change(act: string, at: [Scope, string, string], body?: object, options: ChangeOptions = {}): Changed {
    const [scope, type, key] = at;
    const { undo, ...call } = options;
    const parts = { ...call, scope, params: { type, key }, query: { undo }, body };
    return (await this.#requests.json(requestOf("post", `${MEMORY}/${act}`, parts))) as schema.ChangedMemory;
  }
}
