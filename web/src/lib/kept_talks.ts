/** What was read of talks, kept while the page is open: for when the service is away. An erase forgets all of it. */

import type { Message, Thread } from "../api/shapes";

const TALKS_MAX = 20;

class KeptTalks {
  private readonly messages = new Map<string, readonly Message[]>();
  private readonly threads = new Map<string, readonly Thread[]>();

  keep(where: string, messages: readonly Message[]): void {
    this.messages.delete(where);
    this.messages.set(where, messages);
    const [oldest] = this.messages.keys();
    if (this.messages.size > TALKS_MAX && oldest !== undefined) this.messages.delete(oldest);
  }

  messagesOf = (where: string): readonly Message[] | undefined => this.messages.get(where);

  /** All messages of a thread, if they were read and none was erased or said since. */
  wholeOf(where: string, { count, last }: Pick<Thread, "count" | "last">): readonly Message[] | undefined {
    const read = this.messages.get(where);
    return read?.length === count && read.at(-1)?.position === last ? read : undefined;
  }

  keepThreads(scope: string, threads: readonly Thread[]): void {
    this.threads.set(scope, threads);
  }

  threadsOf = (scope: string): Thread[] => [...(this.threads.get(scope) ?? [])];

  forget(): void {
    this.messages.clear();
    this.threads.clear();
  }
}

export const keptTalks = new KeptTalks();
