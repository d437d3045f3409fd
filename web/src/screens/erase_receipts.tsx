/** Receipts of erases: what went, when and how much, as a sentence; opened, each has its times, and its id by which it is found again. */

import { useEffect, useRef } from "react";
import type { EraseReceipt } from "../api/shapes";
import { erasedKind, type ErasedKind } from "../lib/erased_kinds";
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
  const shown = receipts.filter((each, place) => place < SHOWN || wanted.includes(each.id));
  return (
    <>
      <h3>{t("erase.receipts")}</h3>
      <ul className="receipts erase-receipts">{shown.map((each) => <li key={each.id}><Receipt receipt={each} isWanted={wanted.includes(each.id)} /></li>)}</ul>
    </>
  );
}

/** One that a link leads to is opened, and in sight. */
function Receipt({ receipt, isWanted }: { receipt: EraseReceipt; isWanted: boolean }) {
  const { t } = useAround();
  const wording = useWording();
  const kind = erasedKind(receipt.id);
  const place = useRef<HTMLDetailsElement>(null);
  useEffect(() => {
    if (isWanted) place.current?.scrollIntoView({ block: "center" });
  }, [isWanted]);
  const rows = [
    [t("erase.receipt_of"), kind ? t(KIND_WORDS[kind]) : t("erase.receipt_elsewhere")],
    [t("erase.erased_at"), wording.moment(receipt.erased_at)],
    [t("erase.clean_at"), receipt.clean_at ? wording.moment(receipt.clean_at) : t("erase.unclean")],
    [t("erase.receipt_id"), <code key="id">{receipt.id}</code>],
  ] as const;
  const said = { when: wording.moment(receipt.erased_at), counts: counted(countsOf(receipt), t) };
  return (
    <details ref={place} open={isWanted || undefined}>
      <summary>{kind ? t("erase.receipt_said", { ...said, what: t(KIND_WORDS[kind]) }) : t("erase.receipt_said_only", said)}</summary>
      <dl className="facts">{rows.map(([label, value]) => <div key={label}><dt>{label}</dt><dd>{value}</dd></div>)}</dl>
      <p className="hint">{t("erase.receipt_about")}</p>
    </details>
  );
}
