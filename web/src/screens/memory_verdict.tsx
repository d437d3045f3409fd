/** The decision on a memory that waits, on its own page: what would come of it, why it waits, and the two verdicts. */

import type { Memory } from "../api/shapes";
import { whyWritten } from "../lib/causes";
import { changeAsked } from "../lib/proposal_question";
import { go, linkTo } from "../lib/route";
import { useAround, useHere } from "../lib/session";
import { standing } from "../lib/standing";
import { LOOKS, useVerdict, VERDICTS, type Decision } from "../lib/verdict";
import { proposedFor } from "../lib/waiting";
import { memoryLink } from "../parts/basics";
import { ActFailure } from "../parts/states";
import { useQuestion } from "./review_question";

export function MemoryVerdict({ memory, changed }: { memory: Memory; changed: () => void }) {
  const { t, named } = useAround();
  const { scope, can } = useHere();
  const { kind, before, cause } = useQuestion(memory);
  const acts = useVerdict(changed, VERDICTS[kind]);
  const asked = kind === "end" ? t("review.end", { what: memory.sentence }) : before && changeAsked(before, memory, t, named);
  // An approved change is in the memory that it changed: what waited is gone.
  const leave = async () => {
    const of = proposedFor(memory.key);
    const stands = of && (await standing(scope, { type: memory.type, key: of.key }).catch(() => null));
    if (of) go(stands ? memoryLink(stands, scope) : linkTo(["memories"], scope));
  };
  const decide = (decision: Decision) => acts.decide(memory, decision, () => void (decision === "approve" && leave()));
  return (
    <div className="notice decision">
      <p>{t("memory.waits")} <a href={linkTo(["review"], scope)}>{t("review")}</a></p>
      {asked && <p className="decision-asked">{asked}</p>}
      {cause && cause !== "put" && <p>{whyWritten(cause, t, named)}</p>}
      {can("write") && (
        <div className="acts" role="group" aria-label={t("memory.decide")}>
          <button type="button" className={LOOKS[kind].approve} disabled={acts.isBusy} onClick={() => decide("approve")}>{t(VERDICTS[kind].approve)}</button>
          <button type="button" className={LOOKS[kind].reject} disabled={acts.isBusy} onClick={() => decide("reject")} title={kind === "new" ? t("reject.about") : undefined}>{t(VERDICTS[kind].reject)}</button>
        </div>
      )}
      <ActFailure act={acts} />
    </div>
  );
}
