/** Messages on their way to the service: kept in the tab until it is known that the service has them. */

import { useCallback, useSyncExternalStore } from "react";
import { Problem } from "../api/problem";
import { tabShelf, type Shelf } from "./storage";

export interface Unsent {
  /** The idempotency key of every attempt, so that however often it is sent it is kept once. */
  key: string;
  /** Where it was said, see `placeOf`. */
  place: string;
  text: string;
  assistant: string;
  /** The position of the last message that was known when it was said. */
  after: number;
  /** The id that the service has kept it under; null as long as it has not said so. */
  message: string | null;
  /** Sending; failed before the service said that it has it; kept, and then not answered. */
  state: "sending" | "unsent" | "unanswered";
  /** It may have arrived although no answer came. */
  isUnsure: boolean;
  error: (Pick<Problem, "status" | "code" | "title" | "detail"> & Partial<Pick<Problem, "reason">>) | null;
  /** When the last attempt failed. */
  failedAt?: number;
}

const NAME = "recollect.outbox";
const NONE: readonly Unsent[] = [];

export class Outbox {
  private entries: readonly Unsent[];
  private readonly places = new Map<string, readonly Unsent[]>();
  private readonly listeners = new Set<() => void>();

  constructor(private readonly shelf: Shelf) {
    this.entries = read(shelf.get(NAME)).map(interrupted);
  }

  of(place: string): readonly Unsent[] {
    const known = this.places.get(place);
    if (known) return known;
    const found = this.entries.filter((each) => each.place === place);
    this.places.set(place, found.length ? found : NONE);
    return this.places.get(place) ?? NONE;
  }

  /** Add what is said; what was said before, in this window or another, is put in its own place. */
  add(entry: Pick<Unsent, "key" | "place" | "text" | "assistant" | "after"> & Partial<Unsent>): Unsent {
    const added: Unsent = { message: null, isUnsure: false, ...entry, state: "sending", error: null };
    // Who says something more waits no longer for the answer to what was said before.
    const others = this.entries.filter((each) => each.key !== entry.key && (each.place !== entry.place || each.state !== "unanswered"));
    this.write([...others, added]);
    return added;
  }

  change(key: string, part: Partial<Unsent>): void {
    if (this.has(key)) this.write(this.entries.map((each) => (each.key === key ? { ...each, ...part } : each)));
  }

  drop(key: string): void {
    if (this.has(key)) this.write(this.entries.filter((each) => each.key !== key));
  }

  /** Drop what the service has and has not answered: it may have been erased there. */
  dropKept(): void {
    const left = this.entries.filter((each) => each.state === "sending" || each.message === null);
    if (left.length < this.entries.length) this.write(left);
  }

  clear(): void {
    this.write([]);
  }

  readonly listen = (changed: () => void): (() => void) => {
    this.listeners.add(changed);
    return () => this.listeners.delete(changed);
  };

  private has(key: string): boolean {
    return this.entries.some((each) => each.key === key);
  }

  private write(entries: readonly Unsent[]): void {
    this.entries = entries;
    this.places.clear();
    this.shelf.set(NAME, entries.length ? JSON.stringify(entries) : null);
    for (const changed of this.listeners) changed();
  }
}

function read(written: string | null): Unsent[] {
  try {
    const found: unknown = JSON.parse(written ?? "[]");
    return Array.isArray(found) ? (found as Unsent[]) : [];
  } catch {
    return [];
  }
}

/** What was being sent when the page was left: nobody has seen how it ended. */
function interrupted(entry: Unsent): Unsent {
  if (entry.state !== "sending") return entry;
  const error = { status: 0, code: "left", title: "", detail: "" };
  return { ...entry, state: entry.message ? "unanswered" : "unsent", isUnsure: !entry.message, failedAt: Date.now(), error };
}

export const outbox = new Outbox(tabShelf);

/** The messages on their way from a place. */
export function useOutbox(place: string): readonly Unsent[] {
  return useSyncExternalStore(outbox.listen, useCallback(() => outbox.of(place), [place]));
}

/**
 * Whether it is not known if a message arrived: none of the messages that were read since it failed is this one.
 *
 * One that the service keeps later all the same is found then, and sent again it is kept once.
 */
export const isDoubtful = ({ isUnsure, failedAt = Infinity }: Pick<Unsent, "isUnsure" | "failedAt">, readAt: number): boolean => isUnsure && readAt <= failedAt;

/** A thread of a scope as its owner has it, see `ownerOf`: a thread of that name in another store, or under another key, is another place. */
export const placeOf = (whose: string, scope: readonly string[], thread: string): string => JSON.stringify([whose, scope, thread]);

export function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return `page-${[...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}
