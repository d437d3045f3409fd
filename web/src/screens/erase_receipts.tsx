/** Receipts of erases: what went, when and how much, as a sentence; opened, each has its times, and its id by which it is found again. */

import { useEffect, useRef } from "react";
import type { EraseReceipt } from "../api/shapes";
import { byAct, erasedKind, type ErasedKind } from "../lib/erased_kinds";
import { useRoute } from "../lib/route";
import { useAround, useWording } from "../lib/session";
import type { Word } from "../words";
import { counted, countsOf } from "./erase_dialog";

const SHOWN = 5;
const KIND_WORDS = {
  thread: "erase.thread_target", message: "erase.message_target", quoted: "erase.message_and_quotes", memory: "erase.memory", source: "erase.source_target", scope: "erase.scope",
} as const satisfies Record<ErasedKind, Word>;

export function EraseReceipts({ receipts }: { receipts: readonly EraseReceipt[] }) {
  const { t } = useAround();
  const { query } = useRoute();
  const wanted = query.getAll("receipt");
  if (!receipts.length) return null;
  const isWanted = (act: readonly EraseReceipt[]) => act.some((each) => wanted.includes(each.id));
  const shown = byAct(receipts).filter((act, place) => place < SHOWN || isWanted(act));
  return (
    <>
      <h3>{t("erase.receipts")}</h3>
      <ul className="receipts erase-receipts">{shown.map((act) => <li key={act[0]?.id}><Act receipts={act} isWanted={isWanted(act)} /></li>)}</ul>
    </>
  );
}

/** One act, which has a receipt for each thread that it took messages of. One that a link leads to is opened, and in sight. */
function Act({ receipts, isWanted }: { receipts: readonly EraseReceipt[]; isWanted: boolean }) {
  const { t } = useAround();
  const wording = useWording();
  const [newest] = receipts;
  const kind = newest && erasedKind(newest.id);
  const place = useRef<HTMLDetailsElement>(null);
  useEffect(() => {
    if (isWanted) place.current?.scrollIntoView({ block: "center" });
  }, [isWanted]);
  const said = { when: wording.moment(newest?.erased_at), counts: counted(summed(receipts.map(countsOf)), t) };
  return (
    <details ref={place} open={isWanted || undefined}>
      <summary>{kind ? t("erase.receipt_said", { ...said, what: t(KIND_WORDS[kind]) }) : t("erase.receipt_said_only", said)}</summary>
      {receipts.map((each) => <Facts key={each.id} receipt={each} kind={kind} hasCounts={receipts.length > 1} />)}
      <p className="hint">{t("erase.receipt_about")}</p>
    </details>
  );
}

const summed = (all: readonly Record<string, number>[]): Record<string, number> =>
  all.reduce((sum, each) => Object.fromEntries(Object.entries(each).map(([name, count]) => [name, (sum[name] ?? 0) + count])), {});

function Facts({ receipt, kind, hasCounts }: { receipt: EraseReceipt; kind: ErasedKind | undefined; hasCounts: boolean }) {
  const { t } = useAround();
  const wording = useWording();
  const what = kind ? t(KIND_WORDS[kind]) : t("erase.receipt_elsewhere");
  const rows = [
    [t("erase.receipt_of"), hasCounts ? counted(countsOf(receipt), t) : what],
    [t("erase.erased_at"), wording.moment(receipt.erased_at)],
    [t("erase.clean_at"), receipt.clean_at ? wording.moment(receipt.clean_at) : t("erase.unclean")],
    [t("erase.receipt_id"), <code key="id">{receipt.id}</code>],
  ] as const;
  return <dl className="facts">{rows.map(([label, value]) => <div key={label}><dt>{label}</dt><dd>{value}</dd></div>)}</dl>;
}
