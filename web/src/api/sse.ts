/** Server-sent events over `fetch`, because an `EventSource` cannot carry a key in a header. */

export interface ServerEvent {
  event: string;
  data: string;
  id: string | null;
}

/** Collects text that arrives in pieces, and gives back the events that are complete. */
export class EventReader {
  private rest = "";
  /** The id of the last event that had one. */
  id: string | null = null;

  take(piece: string): ServerEvent[] {
    this.rest += piece;
    const found: ServerEvent[] = [];
    for (;;) {
      const end = /\r\n\r\n|\n\n|\r\r/.exec(this.rest);
      if (!end) return found;
      const event = this.read(this.rest.slice(0, end.index));
      this.rest = this.rest.slice(end.index + end[0].length);
      if (event) found.push(event);
    }
  }

  private read(block: string): ServerEvent | null {
    let event = "message";
    const data: string[] = [];
    for (const line of block.split(/\r\n|\n|\r/)) {
      const colon = line.indexOf(":");
      if (colon === 0) continue;
      const name = colon < 0 ? line : line.slice(0, colon);
      const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
      if (name === "event") event = value;
      else if (name === "data") data.push(value);
      else if (name === "id") this.id = value;
    }
    return data.length ? { event, data: data.join("\n"), id: this.id } : null;
  }
}

/** The events of an answer; `placed` is called with each id, which an event without data may have, too. */
export async function* eventsOf(body: ReadableStream<Uint8Array>, placed?: (id: string) => void): AsyncGenerator<ServerEvent> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  const events = new EventReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield* events.take(decoder.decode(value, { stream: true }));
      if (events.id) placed?.(events.id);
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}
