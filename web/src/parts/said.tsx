/** What a memory says, and of which type it is: the same everywhere it is shown. */

import type { Memory } from "../api/shapes";
import { useAsked } from "../lib/asking";
import { isDocument, pairsOf, wordsOf } from "../lib/sentences";
import { useAround, useYesNo } from "../lib/session";
import { lookOf } from "../lib/type_looks";
import { isProposal, refusedField, saidOf } from "../lib/waiting";
import { SignIcon } from "./icons";

const PAIRS_SHOWN = 6;

/** The sign of a type in its colour; its name stands beside it, or is said to who cannot see it. */
export function TypeSign({ type, isNamed = true }: { type: string; isNamed?: boolean }) {
  const { named, t } = useAround();
  const { tint, sign } = lookOf(type);
  return (
    <span className={`type-sign tint-${tint}`} title={named(type)}>
      <span aria-hidden="true">{"icon" in sign ? <SignIcon name={sign.icon} /> : sign.letter}</span>
      {!isNamed && <span className="unseen">{named(type)}{t("colon")}</span>}
    </span>
  );
}

export function TypeName({ type }: { type: string }) {
  const { named } = useAround();
  return <span className={`type-name tint-${lookOf(type).tint}`}>{named(type)}</span>;
}

/** A memory in words: its sentence; of a document the names and values. */
export function Said({ memory }: { memory: Memory }) {
  const { t, named } = useAround();
  const yesNo = useYesNo();
  const refused = refusedField(memory);
  if (refused) return <span className="said said-pairs"><span><span className="said-name">{named(refused.name)}</span> {wordsOf(refused.value, yesNo)}</span></span>;
  if (isProposal(memory)) return <Proposal memory={memory} />;
  if (!isDocument(memory)) return <span className="said">{saidOf(memory, t)}</span>;
  const pairs = pairsOf(memory.value, yesNo);
  return (
    <span className="said said-pairs">
      {pairs.slice(0, PAIRS_SHOWN).map((each) => (
        <span key={each.name}><span className="said-name">{named(each.name)}</span> {each.text}</span>
      ))}
      {pairs.length > PAIRS_SHOWN && <span className="faint">+{pairs.length - PAIRS_SHOWN}</span>}
    </span>
  );
}

/** The question that a proposal asks. Few of what is listed are one: its script comes when it is there. */
function Proposal({ memory }: { memory: Memory }) {
  const { named } = useAround();
  const { value } = useAsked(async () => ({ Asked: (await import("./proposal")).Proposal }), []);
  return value ? <value.Asked memory={memory} /> : <span className="said faint">{named(memory.type)}</span>;
}
