/** Putting an earlier version of a memory in force again; what stands in its place is asked about. */

import { useState } from "react";
import type { Memory, Revision } from "../api/shapes";
import { useMemoryActs } from "../lib/memory_acts";
import { inPlaceOf, isOver } from "../lib/one_after_another";
import { shortened } from "../lib/sentences";
import { useAround } from "../lib/session";
import { Dialog } from "../parts/basics";
import { ActFailure } from "../parts/states";

export function Restore({ memory, revision, others, changed }: { memory: Memory; revision: Revision; others: readonly Memory[]; changed: () => void }) {
  const { t } = useAround();
  const acts = useMemoryActs(changed);
  const [isAsking, setAsking] = useState(false);
  // A version that has ended as well is restored as history: nothing is true twice by that.
  const instead = isOver(revision) ? [] : inPlaceOf(memory, others);
  const restore = (ends: readonly Memory[]) => void acts.restore(memory, revision, ends);
  return (
    <>
      <button type="button" className="small" disabled={acts.isBusy} onClick={() => (instead.length ? setAsking(true) : restore([]))}>{t("restore")}</button>
      <ActFailure act={acts} />
      {isAsking && <Ask memory={memory} instead={instead} close={() => setAsking(false)} restore={(ends) => { setAsking(false); restore(ends); }} />}
    </>
  );
}

function Ask({ memory, instead, close, restore }: { memory: Memory; instead: readonly Memory[]; close: () => void; restore: (ends: readonly Memory[]) => void }) {
  const { t } = useAround();
  const [isEnding, setEnding] = useState(true);
  return (
    <Dialog title={t("restore.sure", { what: shortened(memory.sentence) })} close={close} act={() => restore(isEnding ? instead : [])}>
      <p>{t("restore.instead")}</p>
      <ul className="instead">{instead.map((each) => <li key={each.key}><strong>{each.sentence}</strong></li>)}</ul>
      <label className="check"><input type="checkbox" checked={isEnding} onChange={(event) => setEnding(event.target.checked)} />{t("restore.end_it")}</label>
      <p className="hint">{t(isEnding ? "restore.one_undo" : "restore.both")}</p>
      <footer className="dialog-acts">
        <button type="button" onClick={close}>{t("cancel")}</button>
        <button type="submit" className="accent" data-first>{t("restore")}</button>
      </footer>
    </Dialog>
  );
}
