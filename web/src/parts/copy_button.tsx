/** A button that copies a text; where the browser does not let it, the text is selected instead. */

import { useEffect, useRef, useState } from "react";
import { useAround } from "../lib/session";
import { Icon } from "./icons";

const TOLD_MS = 4_000;

/** Copies what the `pre` or `code` beside it shows. */
export function CopyButton({ text }: { text: string }) {
  const { t } = useAround();
  const button = useRef<HTMLButtonElement>(null);
  const [told, setTold] = useState<"api.copied" | "copy.selected" | null>(null);
  useEffect(() => {
    if (!told) return;
    const timer = setTimeout(() => setTold(null), TOLD_MS);
    return () => clearTimeout(timer);
  }, [told]);
  // Without TLS there is no clipboard, except on the reader's own machine.
  const copy = async () => navigator.clipboard.writeText(text);
  const select = () => {
    const shown = button.current?.closest("[data-copied]")?.querySelector("pre, code");
    if (shown) getSelection()?.selectAllChildren(shown);
    setTold("copy.selected");
  };
  return (
    <button ref={button} type="button" className="small plain" onClick={() => void copy().then(() => setTold("api.copied"), select)}>
      <Icon name={told === "api.copied" ? "done" : "copy"} /><span aria-live="polite">{t(told ?? "api.copy")}</span>
    </button>
  );
}
