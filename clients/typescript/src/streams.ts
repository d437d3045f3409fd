import { RecollectError } from "./errors.js";
import { pause } from "./requests.js";
import type { JsonValue, Message, Problem, RecalledMemory, RecalledMessage } from "./schema.js";

// The document describes a stream by its media type alone; these are what its events hold.

/** A change of a scope; `removed` counts what is there no more. */
export type Change =
  | { kind: "message"; thread: string; id: string; position: number; seq: number }
  | { kind: "memory"; type: string; key: string; version: number; state: string; seq: number }
  | { kind: "removed"; count: number; seq: number };

/** `reset`: something was erased, so read anew what you show. `id` is where a later stream may go on. */
export type ChangeEvent = { id: string } & (
  | { event: "change"; data: Change }
  | { event: "reset"; data: { seq: number } }
);

/** What became of a turn: `reason` says why there is no answer. */
export interface ChatResult {
  user: Message;
  assistant: Message | null;
  recalled: (RecalledMessage | RecalledMemory)[];
  due_in_s: number | null;
  reason: string | null;
  prompt?: { system: string; turns: { role: string; text: string }[]; tokens: number };
}

export type ChatEvent =
  | { event: "kept"; data: { user: Message } }
  | { event: "token"; data: { text: string } }
  | { event: "done"; data: ChatResult };

/** A record of an export: a message, a memory, a receipt. */
export type ExportedRecord = { kind: string } & Record<string, JsonValue>;

const AGAIN_MS = 200;

interface ServerEvent {
  id: string;
  event: string;
  data: unknown;
}

/** Yield the events of a stream; one that only tells an id has no name. An `error` is thrown. */
export async function* eventsOf(lines: AsyncIterable<string>): AsyncGenerator<ServerEvent> {
  let found: ServerEvent = { id: "", event: "", data: undefined };
  for await (const line of lines) {
    const [, name, value = ""] = /^([a-z]*): ?(.*)$/.exec(line) ?? [];
    if (name === "id") found.id = value;
    else if (name === "event") found.event = value;
    else if (name === "data") found.data = JSON.parse(value);
    else if (line === "" && (found.event || found.id)) {
      if (found.event === "error") throw new RecollectError(found.data as Problem);
      yield found;
      found = { id: found.id, event: "", data: undefined };
    }
  }
}

/** Yield the changes that *opened* streams from an id on; a stream that breaks after its first event is opened again. */
export async function* changesOf(
  opened: (id: string) => AsyncIterable<string>,
  id = "",
  signal?: AbortSignal,
): AsyncGenerator<ChangeEvent, void, undefined> {
  for (let isBegun = true; isBegun; await pause(AGAIN_MS, signal)) {
    isBegun = false;
    try {
      for await (const told of eventsOf(opened(id))) {
        [id, isBegun] = [told.id || id, true];
        if (told.event) yield { ...told, id } as ChangeEvent;
      }
    } catch (error) {
      if (!isBegun || !(error instanceof RecollectError) || error.code !== "unavailable") throw error;
    }
  }
}

/** Yield the records of an export; one that was cut off or broken off throws. */
export async function* recordsOf(lines: AsyncIterable<string>): AsyncGenerator<ExportedRecord> {
  for await (const line of lines) {
    const record = JSON.parse(line) as ExportedRecord;
    if (record.kind === "problem") throw new RecollectError(record as Partial<Problem>);
    if (record.kind === "end") return;
    yield record;
  }
  throw new RecollectError({ code: "unavailable", detail: "the export was cut off: make it again" });
}
