/** The way to an erase from where something is shown; the dialog comes when it is asked for. */

import { useState } from "react";
import type { EraseTarget } from "../api/shapes";
import { useAround, useHere } from "../lib/session";
import { Icon } from "./icons";
import { lazyDialog, withLate } from "./lazy_screen";

export const LazyErase = lazyDialog("erase", async () => ({ default: (await withLate(import("../screens/erase_dialog"))).EraseDialog }));

/** A button that erases; with `isIcon` its words are for who hears it or rests on it, else `about` says more. */
export function EraseButton({ target, what, isIcon = false, about, done }: { target: EraseTarget; what: "erase.for_good" | "erase.this_thread"; isIcon?: boolean; about?: string; done: () => void }) {
  const { t } = useAround();
  const { can } = useHere();
  const [isOpen, setOpen] = useState(false);
  if (!can("erase")) return null;
  return (
    <>
      {isIcon
        ? <button type="button" className="plain icon-button" aria-label={t(what)} title={t(what)} onClick={() => setOpen(true)}><Icon name="erase" /></button>
        : <button type="button" className="danger" title={about} onClick={() => setOpen(true)}>{t(what)}</button>}
      {isOpen && <LazyErase target={target} close={() => setOpen(false)} done={() => { setOpen(false); done(); }} />}
    </>
  );
}
