/** How the background tasks of the service are: their words, their colours, and in which order they are read. */

import type { Health, TaskHealth } from "../api/shapes";

/** The tasks that have a word of their own; another is told by its name. */
export const TASKS = [
  "cleaning", "consolidation", "embedding", "formation", "listening", "merging", "outside", "reranking", "schedules", "summarising", "sweeping", "usage", "watching",
] as const;
export type TaskName = (typeof TASKS)[number];

export const taskNamed = (name: string): TaskName | undefined => TASKS.find((each) => each === name);

const KINDS = { ok: "good", running: "good", degraded: "warn", failing: "wrong", down: "wrong", stopped: undefined } as const;

/** The colour of a status or a state. */
export const kindOf = (state: Health["status"] | TaskHealth["state"]): string | undefined => KINDS[state];

/** Tasks as they are read: what fails first, then by their words. */
export function inOrder(tasks: readonly TaskHealth[], wordOf: (name: string) => string): TaskHealth[] {
  const rank = (task: TaskHealth) => (task.state === "failing" ? 0 : 1);
  return [...tasks].sort((one, other) => rank(one) - rank(other) || wordOf(one.name).localeCompare(wordOf(other.name)));
}
