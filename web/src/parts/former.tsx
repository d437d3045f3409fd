/** What a field of a document said before, and that somebody corrected it. */

import { useMemo } from "react";
import type { Memory, Revision } from "../api/shapes";
import { useAsked } from "../lib/asking";
import { fieldsByHand, formerFields } from "../lib/former_fields";
import { useAround, useHere } from "../lib/session";

interface FormerField {
  former: string | undefined;
  isByHand: boolean;
}

const NONE: ReadonlyMap<string, string> = new Map();

/** What the versions of a document say of each field, by its pointer; with `lately`, what ended instead is looked for among what was changed last. */
export function useFormer(revisions: readonly Revision[], lately?: readonly Memory[]): (pointer: string) => FormerField {
  const { scope } = useHere();
  const [newest] = revisions;
  const isRevised = revisions.length > 1;
  const asked = useAsked(async () => (isRevised ? (await import("../lib/replaced")).replacedIn(scope, revisions, lately) : NONE), [scope, isRevised && newest, lately?.map((each) => each.updated_at)]);
  const replaced = asked.value ?? NONE;
  return useMemo(() => {
    const [former, byHand] = [formerFields(revisions), fieldsByHand(revisions)];
    return (pointer) => ({ former: former.get(pointer) ?? replaced.get(pointer), isByHand: byHand.has(pointer) });
  }, [revisions, replaced]);
}

export function Former({ former, isByHand, as: As = "span" }: FormerField & { as?: "span" | "dd" }) {
  const { t } = useAround();
  if (former === undefined && !isByHand) return null;
  return <As className="sentence-before">{t(former === undefined ? "overview.written" : isByHand ? "overview.by_hand" : "overview.before")}{former !== undefined && <del>{former}</del>}</As>;
}
