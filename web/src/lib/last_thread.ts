/** Which thread of a scope was read last, as long as the page is open: Chat opens with it again. */

import type { Thread } from "../api/shapes";

const lastRead = new Map<string, string>();

export const noteThread = (scope: string, thread: string): void => void lastRead.set(scope, thread);

export function newestFirst(threads: readonly Thread[]): Thread[] {
  return [...threads].sort((one, other) => Date.parse(other.created_at) - Date.parse(one.created_at));
}

/** The thread that was read last, if it is still there, else the newest of those that are listed. */
export function threadToOpen(scope: string, listed: readonly Thread[], isThere: (thread: string) => boolean): string | undefined {
  const last = lastRead.get(scope);
  return last !== undefined && (listed.some(({ id }) => id === last) || isThere(last)) ? last : newestFirst(listed)[0]?.id;
}
