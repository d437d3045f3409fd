/** An erase, before it is done: what it takes, in sentences, and what stays unless it is erased too. */

import { useRef, useState, type ReactNode } from "react";
import { api } from "../api/client";
import type { EraseCounts, ErasePreview, EraseReceipt, EraseTarget, Message } from "../api/shapes";
import { useAct } from "../lib/act";
import { useAsked } from "../lib/asking";
import { reachOf } from "../lib/erase_look";
import { isTyped, nameOf, planOf } from "../lib/erase_plan";
import { isNothing, totalsOf, type Affected } from "../lib/erase_reach";
import { noteErased, receiptLink } from "../lib/erased_kinds";
import { noteErasure } from "../lib/erasures";
import { isSame } from "../lib/outcomes";
import { linkTo } from "../lib/route";
import { entryWords } from "../lib/sentences";
import { useAround, useHere } from "../lib/session";
import { Badge, Dialog, Field, memoryLink } from "../parts/basics";
import { ActFailure, Failure, Loading } from "../parts/states";
import type { Word } from "../words";

const SHOWN = 6;
const WORDS = 140;

type Say = (word: Word, values?: Record<string, string | number>) => string;

export const countsOf = ({ messages, memories, revised }: EraseCounts): Record<string, number> => ({ messages, memories, revised });

/** Counts in words; of what there is none nothing is said, unless there is nothing at all. */
export function counted(counts: Record<string, number>, t: Say): string {
  const all = Object.entries(counts) as [keyof EraseCounts, number][];
  const some = all.filter(([, count]) => count > 0);
  return (some.length ? some : all).map(([name, count]) => t(`erased.${name}`, { count })).join(" · ");
}

/** What there is none of, where a target takes nothing. */
export function nothingWord(target: EraseTarget): Word {
  if ("thread" in target) return "erase.no_thread";
  if ("message" in target) return "erase.no_message";
  if ("memory" in target) return "erase.no_memory";
  return "erase.nothing";
}

/** Ask what an erase of `target` takes, and do it once a person says so. */
export function EraseDialog({ target, close, done }: { target: EraseTarget; close: () => void; done: () => void }) {
  const { t } = useAround();
  const { scope } = useHere();
  const preview = useAsked(() => api.previewErase(scope, target), [scope, target]);
  return (
    <>
      {!preview.value && (
        <Dialog title={t("erase.sure")} close={close}>
          <Failure error={preview.error} again={preview.again} />
          {!preview.error && <Loading rows={2} />}
        </Dialog>
      )}
      {preview.value && isNothing(preview.value) && (
        <Dialog title={t("erase.sure")} close={close} act={close}>
          <p className="notice" role="alert">{t(nothingWord(target))}</p>
          <footer className="dialog-acts"><button type="submit" className="accent">{t("close")}</button></footer>
        </Dialog>
      )}
      {preview.value && !isNothing(preview.value) && <ConfirmErase target={target} preview={preview.value} close={close} done={done} />}
    </>
  );
}

/** What a preview found, named in words, with the messages that quote it; it is erased once the word is typed. */
export function ConfirmErase({ target, preview, close, done }: { target: EraseTarget; preview: ErasePreview; close: () => void; done: () => void }) {
  const { t, tell } = useAround();
  const { scope } = useHere();
  const act = useAct();
  const receipts = useAsked(() => api.receipts(scope), [scope]);
  const [typed, setTyped] = useState("");
  const quoting = preview.quoted_in;
  const [stay, setStay] = useState<ReadonlySet<string>>(() => new Set(quoting.filter((each) => !each.likely).map(nameOf)));
  const plan = planOf(target, quoting.filter((each) => !stay.has(nameOf(each))));
  const [first = target, ...others] = plan;
  const isAsAsked = JSON.stringify(first) === JSON.stringify(target);
  const previews = useAsked(() => Promise.all([isAsAsked ? preview : api.previewErase(scope, first), ...others.map((each) => api.previewErase(scope, each))]), [scope, plan]);
  const reach = useAsked(() => reachOf(scope, plan), [scope, plan]);
  const erased = useRef<(EraseReceipt | null)[]>([]);
  const word = t("erase");
  const [shown] = previews.value ?? [];
  const { total, chosen, ticked } = totalsOf(target, preview, plan, previews.value ?? [preview], reach.value?.memories.map((each) => each.memory) ?? []);
  // A total that may still change is not agreed to.
  const isReady = isTyped(typed, word) && shown !== undefined && (!others.length || !reach.isLoading || Boolean(reach.error));
  const erase = (confirmed: ErasePreview) => {
    const known = new Set(receipts.value?.receipts.map((each) => each.id));
    void act.run({
      request: () => eraseAll(scope, plan, confirmed, erased),
      outcome: async () => (others.length ? undefined : receiptsLike(confirmed, (await api.receipts(scope)).receipts.filter((each) => !known.has(each.id)))),
      succeed: (made) => {
        const { messages = [], memories = [] } = reach.value ?? {};
        void noteErasure(scope, [...messages.map((each) => each.text), ...memories.filter((each) => each.goes).map((each) => each.memory.sentence)]);
        // The messages that go with what was chosen have a receipt for each thread.
        const ids = made.flatMap((each) => each?.id ?? []);
        noteErased(ids, target, "message" in target && !(isAsAsked && !others.length));
        tell(t("erase.done", { counts: counted(countsOf(total), t) }), undefined, ids.length ? { word: "erase.see_receipt", href: receiptLink(ids, scope), isOfErase: true } : undefined);
        done();
      },
    });
  };
  return (
    <Dialog title={t("erase.sure")} close={close} act={() => isReady && erase(shown)} isWide>
      {shown && <p className="counts">{t("erase.total", { counts: counted(countsOf(total), t) })}</p>}
      {shown && !(isAsAsked && !others.length) && (
        <ul className="counts-parts">
          <li>{t("erase.part_chosen", { counts: counted(countsOf(chosen), t) })}</li>
          <li>{t("erase.part_ticked", { counts: counted(countsOf(ticked), t) })}</li>
        </ul>
      )}
      {((!shown && !previews.error) || (!reach.value && !reach.error && !("scope" in target))) && <Loading rows={1} />}
      {reach.value && <Messages title={t("message" in first && !others.length ? "erase.this_message" : "erase.these_messages")} messages={reach.value.messages} of={total.messages} />}
      {reach.value && <Memories found={reach.value.memories} of={total.memories + total.revised} />}
      {quoting.length > 0 && (
        <fieldset className="checks erase-also">
          <legend>{t("erase.words_stay")}</legend>
          {quoting.map((each) => (
            <label key={nameOf(each)} className="check">
              <input type="checkbox" checked={!stay.has(nameOf(each))} onChange={(event) => setStay(new Set(event.target.checked ? [...stay].filter((other) => other !== nameOf(each)) : [...stay, nameOf(each)]))} />
              <span><span className="faint">{t(`role.${each.role}`)}</span> {t("quoted", { words: shortened(each.quote) })}</span>
            </label>
          ))}
        </fieldset>
      )}
      <p className="notice wrong-notice">{t("erase.warning")}</p>
      <div className="erase-confirm">
        <Field label={t("erase.type_word", { word })} hint={t("erase.type_about", { act: t("erase.do") })}>{(id) => <input id={id} data-first autoComplete="off" value={typed} onChange={(event) => setTyped(event.target.value)} />}</Field>
        <Failure error={previews.error} again={previews.again} />
        <ActFailure act={act} />
        <footer className="dialog-acts"><button type="button" onClick={close}>{t("cancel")}</button><button type="submit" className="danger" disabled={!isReady || act.isBusy}>{t("erase.do")}</button></footer>
      </div>
    </Dialog>
  );
}

/** The receipt of an erase whose answer was lost: the one that counts what was confirmed. */
function receiptsLike(confirmed: ErasePreview, fresh: readonly EraseReceipt[]): EraseReceipt[] | undefined {
  const found = fresh.find((each) => isSame(countsOf(each), countsOf(confirmed)));
  return found && [found];
}

/** Carry out a plan: what was shown as it was confirmed, the rest as it is then. What was `erased` in a try before is passed over; null is what there was no more of. */
async function eraseAll(scope: string[], plan: readonly EraseTarget[], confirmed: ErasePreview, erased: { current: (EraseReceipt | null)[] }): Promise<(EraseReceipt | null)[]> {
  for (const each of plan.slice(erased.current.length)) {
    const isFirst = !erased.current.length;
    const preview = isFirst ? confirmed : await api.previewErase(scope, each);
    erased.current.push(isFirst || !isNothing(preview) ? await api.erase(scope, preview.confirm) : null);
  }
  return erased.current;
}

const shortened = (text: string): string => (text.length > WORDS ? `${text.slice(0, WORDS)}…` : text);

function Messages({ title, messages, of }: { title: string; messages: readonly Message[]; of: number }) {
  const { scope } = useHere();
  const shown = messages.slice(0, SHOWN);
  if (!shown.length) return null;
  return (
    <Taken title={title} more={of - shown.length}>
      {shown.map((each) => <li key={each.id}><a href={linkTo(["chat", each.thread], scope, { message: each.id })}>{shortened(each.text)}</a></li>)}
    </Taken>
  );
}

function Memories({ found, of }: { found: readonly Affected[]; of: number }) {
  const { t, named } = useAround();
  const { scope } = useHere();
  const shown = found.slice(0, SHOWN);
  if (!shown.length) return null;
  return (
    <Taken title={t("memories")} more={of - shown.length}>
      {shown.map(({ memory, goes }) => (
        <li key={`${memory.type}/${memory.key}`}>
          <a href={memoryLink(memory, scope)}>{entryWords({ kind: "memory", text: memory.sentence }, named, t("colon"))}</a> <Badge kind={goes ? "wrong" : "warn"}>{t(goes ? "erase.goes" : "erase.is_revised")}</Badge>
        </li>
      ))}
    </Taken>
  );
}

function Taken({ title, more, children }: { title: string; more: number; children: ReactNode }) {
  const { t } = useAround();
  return (
    <section className="erase-taken" aria-label={title}>
      <h3>{title}</h3>
      <ul>{children}{more > 0 && <li className="faint">{t("import.more", { count: more })}</li>}</ul>
    </section>
  );
}
