/** What a field of a document said before, and that somebody corrected it. */

import { useMemo } from "react";
import type { Revision } from "../api/shapes";
import { fieldsByHand, formerFields } from "../lib/former_fields";
import { useAround } from "../lib/session";

interface FormerField {
  former: string | undefined;
  isByHand: boolean;
}

/** What the versions of a document say of each field, by its pointer. */
export function useFormer(revisions: readonly Revision[]): (pointer: string) => FormerField {
  return useMemo(() => {
    const [former, byHand] = [formerFields(revisions), fieldsByHand(revisions)];
    return (pointer) => ({ former: former.get(pointer), isByHand: byHand.has(pointer) });
  }, [revisions]);
}

export function Former({ former, isByHand, as: As = "span" }: FormerField & { as?: "span" | "dd" }) {
  const { t } = useAround();
  if (former === undefined && !isByHand) return null;
  return <As className="sentence-before">{t(former === undefined ? "overview.written" : isByHand ? "overview.by_hand" : "overview.before")}{former !== undefined && <del>{former}</del>}</As>;
}
