/** Under which keys messages were sent that were kept and not answered: any window of this browser can ask for their answers, with no words kept for that. */

import { ownBrowser } from "./owned_shelf";
import { keptIn } from "./storage";

const NAME = "recollect.unanswered";
const KEPT_MAX = 20;
/** An answer takes no longer to begin to come, or its window is gone. */
const ANSWER_MS = 60_000;

export interface SentMessage {
  key: string;
  assistant: string;
  /** When it was sent; 0 once it is known to have failed. */
  at: number;
}

const kept = () => keptIn<Record<string, SentMessage>>(ownBrowser, NAME, {});

/** Keep how a message was sent; null once it is answered, or need not be. */
export function noteSent(message: string, sent: SentMessage | null): void {
  const { [message]: before, ...others } = kept();
  if (!sent && !before) return;
  const all = Object.entries(others).slice(1 - KEPT_MAX);
  if (sent) all.push([message, sent]);
  ownBrowser.set(NAME, all.length ? JSON.stringify(Object.fromEntries(all)) : null);
}

/** How a message was sent whose answer does not come. */
export function unansweredAs(message: string, now = Date.now()): SentMessage | undefined {
  const sent = kept()[message];
  return sent && now - sent.at > ANSWER_MS ? sent : undefined;
}

export const forgetUnanswered = (): void => ownBrowser.set(NAME, null);
export const forgetAllUnanswered = (): void => ownBrowser.clear(NAME);
