/** An audited change in the reader's words: its action, and the objects that it names or counts. */

import type { AuditRow } from "../api/shapes";
import type { Word } from "../words";

type Say = (word: Word, values?: Record<string, string | number>) => string;

const ACTIONS = ["append", "remove", "keep", "replace", "apply", "prolong", "form", "signal", "pause", "resume", "redrive", "restore", "erase", "undo"] as const;
const KINDS = ["threads", "messages", "memories", "removed", "sides"] as const;

export function actionSaid(action: string, t: Say): string {
  const known = ACTIONS.find((each) => each === action);
  return known ? t(`audit.action.${known}`) : action;
}

/** The thread that a row names, or in which a message that it names is. */
export function threadNamed(name: string): string | undefined {
  const [, kind, id = ""] = /^(thread|message) (.+)$/s.exec(name) ?? [];
  return kind === "message" ? id.slice(0, id.lastIndexOf("/")) : kind && id;
}

/** The names of a row without those that would be said as another one is: several messages of a thread are that thread. */
export const namedOnce = (names: readonly string[]): string[] => {
  const said = names.map((each) => threadNamed(each) ?? each);
  return names.filter((_, at) => said.indexOf(said[at] as string) === at);
};

/** The objects that a row still names; of those without a name, how many there are of each kind. */
export function objectsSaid({ names = [], subject = {}, description }: Pick<AuditRow, "names" | "subject" | "description">, t: Say): string {
  if (names.length) return names.join(", ");
  const counted = Object.entries(subject).flatMap(([kind, ids]) => {
    const known = KINDS.find((each) => each === kind);
    return Array.isArray(ids) && ids.length ? [known ? t(`audit.objects.${known}`, { count: ids.length }) : `${ids.length} ${kind}`] : [];
  });
  return counted.join(t("recall.part_between")) || description;
}
