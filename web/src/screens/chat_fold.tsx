/** The words of a message: of a long one the first lines, and a button that shows all. */

import { useLayoutEffect, useRef, useState, type ReactNode } from "react";
import { LINES_MAX, mayBeFolded } from "../lib/long_text";
import { useAround } from "../lib/session";

export function Folded({ text, isWhole, stay, children }: {
  text: string;
  /** It is shown whole: a link leads to it, words in it are marked, or it was only just said. */
  isWhole: boolean;
  /** Called before it is unfolded. */
  stay: () => void;
  children: ReactNode;
}) {
  const { t } = useAround();
  const [isOpen, setOpen] = useState(false);
  const mayFold = !isWhole && mayBeFolded(text);
  const { box, isLong } = useIsLong(mayFold);
  if (!mayFold) return children;
  const open = () => {
    stay();
    setOpen(true);
  };
  // Who folds it reads its end: what comes after it would be far away.
  const fold = (button: HTMLElement) => {
    setOpen(false);
    requestAnimationFrame(() => button.scrollIntoView({ block: "center" }));
  };
  const isFolded = isLong && !isOpen;
  return (
    <>
      {/* A browser that finds words in what is hidden, or moves the focus there, scrolls to them. */}
      <div ref={box} className={isFolded ? "folded" : undefined} onScroll={(event) => event.currentTarget.scrollTop > 0 && open()}>{children}</div>
      {isLong && <button type="button" className="plain fold-more" aria-expanded={isOpen} onClick={(event) => (isOpen ? fold(event.currentTarget) : open())}>{t(isOpen ? "chat.fold" : "chat.unfold")}</button>}
    </>
  );
}

/** Whether what is in a box takes more lines than are shown whole, as wide as the window is now. */
function useIsLong(isOn: boolean) {
  const box = useRef<HTMLDivElement>(null);
  const [isLong, setLong] = useState(isOn);
  useLayoutEffect(() => {
    const words = box.current?.firstElementChild;
    if (!isOn || !words) return;
    const measure = () => setLong(words.getBoundingClientRect().height > LINES_MAX * Number.parseFloat(getComputedStyle(words).lineHeight));
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(words);
    return () => observer.disconnect();
  }, [isOn]);
  return { box, isLong };
}
