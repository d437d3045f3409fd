/** Receipts of erases: how much went and when; opened, each says its id, by which it is found again. */

import type { EraseReceipt } from "../api/shapes";
import { erasedKind, type ErasedKind } from "../lib/erased_kinds";
import { useAround, useWording } from "../lib/session";
import { When } from "../parts/basics";
import type { Word } from "../words";
import { counted, countsOf } from "./erase_dialog";

const SHOWN = 5;
const KIND_WORDS = {
  thread: "erase.thread_target", message: "erase.message_target", memory: "erase.memory", source: "erase.source_target", scope: "erase.scope",
} as const satisfies Record<ErasedKind, Word>;

export function EraseReceipts({ receipts }: { receipts: readonly EraseReceipt[] }) {
  const { t } = useAround();
  if (!receipts.length) return null;
  return (
    <>
      <h3>{t("erase.receipts")}</h3>
      <ul className="receipts erase-receipts">{receipts.slice(0, SHOWN).map((each) => <li key={each.id}><Receipt receipt={each} /></li>)}</ul>
    </>
  );
}

function Receipt({ receipt }: { receipt: EraseReceipt }) {
  const { t } = useAround();
  const wording = useWording();
  const kind = erasedKind(receipt.id);
  const rows = [
    [t("erase.receipt_id"), <code key="id">{receipt.id}</code>],
    [t("erase.receipt_of"), kind ? t(KIND_WORDS[kind]) : t("erase.receipt_elsewhere")],
    [t("erase.receipt_counts"), counted(countsOf(receipt), t)],
    [t("erase.erased_at"), wording.moment(receipt.erased_at)],
    [t("erase.clean_at"), receipt.clean_at ? wording.moment(receipt.clean_at) : t("erase.unclean")],
  ] as const;
  return (
    <details>
      <summary><span>{counted(countsOf(receipt), t)}</span> <span className="faint"><When at={receipt.erased_at} /></span></summary>
      <dl className="facts">{rows.map(([label, value]) => <div key={label}><dt>{label}</dt><dd>{value}</dd></div>)}</dl>
      <p className="hint">{t("erase.receipt_about")}</p>
    </details>
  );
}
