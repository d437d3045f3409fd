/** What threads are called: by what the user said first in them. */

import type { Message, Thread } from "../api/shapes";

const TITLE_CHARACTERS = 80;

/** How many messages of a thread are gone. */
const goneFrom = ({ count, last }: Pick<Thread, "count" | "last">): number => last - count;

/** What the user said first; a thread that begins with a system prompt or a greeting is not known by that. */
export const wordsOf = (messages: readonly Pick<Message, "role" | "text">[]): string => (messages.find((each) => each.role === "user") ?? messages.find((each) => each.role !== "system") ?? messages[0])?.text ?? "";

/** What threads begin with, and how many of their messages were gone then: of one that lost more, that message may be erased. */
export class ThreadTitles {
  private readonly read = new Map<string, { text: string; gone: number }>();

  /** Keep what a thread began with when it was listed. */
  note(name: string, text: string, listed: Pick<Thread, "count" | "last">): void {
    this.read.set(name, { text: text.slice(0, TITLE_CHARACTERS), gone: goneFrom(listed) });
  }

  of(name: string, listed: Pick<Thread, "count" | "last">): string | undefined {
    const known = this.read.get(name);
    return known?.gone === goneFrom(listed) ? known.text : undefined;
  }
}
