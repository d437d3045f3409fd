/** What would change a memory that stands, as a question. */

import type { Memory } from "../api/shapes";
import { useAsked } from "../lib/asking";
import { changeAsked } from "../lib/proposal_question";
import { versionBefore } from "../lib/proposals";
import { isDocument } from "../lib/sentences";
import { useAround, useHere } from "../lib/session";

/** The question of what would change a memory that stands; only the type, where that is gone. */
export function Proposal({ memory }: { memory: Memory }) {
  const { t, named } = useAround();
  const { scope } = useHere();
  const before = useAsked(() => versionBefore(scope, memory), [scope, memory.type, memory.key]);
  if (before.isLoading) return <span className="said faint">{named(memory.type)}</span>;
  return <span className="said">{before.value ? changeAsked(before.value, memory, t, named) : isDocument(memory) ? t("review.change_of", { what: named(memory.type) }) : memory.sentence}</span>;
}
