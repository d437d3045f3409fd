/** An erase, before it is done: what it takes, in sentences, and what stays unless it is erased too. */

import { useState, type ReactNode } from "react";
import { api } from "../api/client";
import type { EraseCounts, ErasePreview, EraseReceipt, EraseTarget, Message } from "../api/shapes";
import { useAct } from "../lib/act";
import { useAsked } from "../lib/asking";
import { reachOf } from "../lib/erase_look";
import { isNothing, type Affected } from "../lib/erase_reach";
import { noteErased } from "../lib/erased_kinds";
import { forgetChangesIn } from "../lib/kept_changes";
import { keptTalks } from "../lib/kept_talks";
import { isSame } from "../lib/outcomes";
import { linkTo } from "../lib/route";
import { useAround, useHere } from "../lib/session";
import { turns } from "../lib/turns";
import { forgetWrittenIn } from "../lib/written_here";
import { Badge, Dialog, Field, memoryLink } from "../parts/basics";
import { ActFailure, Failure, Loading } from "../parts/states";
import type { Word } from "../words";

const SHOWN = 6;
const WORDS = 140;

type Say = (word: Word, values?: Record<string, string | number>) => string;

export const countsOf = ({ messages, memories, revised }: EraseCounts): Record<string, number> => ({ messages, memories, revised });

export const counted = (counts: Record<string, number>, t: Say): string => (Object.entries(counts) as [keyof EraseCounts, number][]).map(([name, count]) => t(`erased.${name}`, { count })).join(" · ");

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

/** What a preview found, named in words; it is erased once the word is typed. */
export function ConfirmErase({ target, preview, close, done }: { target: EraseTarget; preview: ErasePreview; close: () => void; done: () => void }) {
  const { t, tell } = useAround();
  const { scope } = useHere();
  const act = useAct();
  const reach = useAsked(() => reachOf(scope, target), [scope, target]);
  const receipts = useAsked(() => api.receipts(scope), [scope]);
  const [typed, setTyped] = useState("");
  const [also, setAlso] = useState<ReadonlySet<string>>(new Set());
  const word = t("erase");
  const sources = reach.value?.sources ?? [];
  const erase = () => {
    const known = new Set(receipts.value?.receipts.map((each) => each.id));
    const chosen = sources.filter((each) => also.has(each.id));
    void act.run({
      request: () => (chosen.length ? eraseWith(scope, chosen, target) : api.erase(scope, preview.confirm)),
      outcome: async () => (chosen.length ? undefined : (await api.receipts(scope)).receipts.find((each) => !known.has(each.id) && isSame(countsOf(each), countsOf(preview)))),
      succeed: (receipt) => {
        turns.forget();
        keptTalks.forget();
        forgetChangesIn(scope);
        forgetWrittenIn(scope);
        noteErased(receipt.id, target);
        tell(t("erase.done", { counts: counted(countsOf(receipt), t), id: receipt.id }));
        done();
      },
    });
  };
  return (
    <Dialog title={t("erase.sure")} close={close} act={() => typed === word && erase()} isWide>
      <p className="counts">{counted(countsOf(preview), t)}</p>
      {!reach.value && !reach.error && !("scope" in target) && <Loading rows={1} />}
      {reach.value && <Messages title={t("message" in target ? "erase.this_message" : "erase.these_messages")} messages={reach.value.messages} of={preview.messages} />}
      {reach.value && <Memories found={reach.value.memories} of={preview.memories + preview.revised} />}
      {sources.length > 0 && (
        <fieldset className="checks erase-also">
          <legend>{t("erase.words_stay")}</legend>
          {sources.map((each) => (
            <label key={`${each.thread} ${each.id}`} className="check">
              <input type="checkbox" checked={also.has(each.id)} onChange={(event) => setAlso(new Set(event.target.checked ? [...also, each.id] : [...also].filter((other) => other !== each.id)))} />
              <span>{t("quoted", { words: shortened(each.text) })}</span>
            </label>
          ))}
        </fieldset>
      )}
      <p className="notice wrong-notice">{t("erase.warning")}</p>
      <Field label={t("erase.type_word", { word })}>{(id) => <input id={id} data-first autoComplete="off" value={typed} onChange={(event) => setTyped(event.target.value)} />}</Field>
      <ActFailure act={act} />
      <footer className="dialog-acts"><button type="button" onClick={close}>{t("cancel")}</button><button type="submit" className="danger" disabled={typed !== word || act.isBusy}>{t("erase.do")}</button></footer>
    </Dialog>
  );
}

/** Erase messages, and then the target, as far as it did not go with them. */
async function eraseWith(scope: string[], messages: readonly Message[], target: EraseTarget): Promise<EraseReceipt> {
  let last: EraseReceipt | undefined;
  for (const each of [...messages.map((one): EraseTarget => ({ message: { thread: one.thread, id: one.id } })), target]) {
    const preview = await api.previewErase(scope, each);
    if (!isNothing(preview)) last = await api.erase(scope, preview.confirm);
  }
  return last ?? { id: "", messages: 0, memories: 0, revised: 0, erased_at: "", clean_at: null };
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
  const { t } = useAround();
  const { scope } = useHere();
  const shown = found.slice(0, SHOWN);
  if (!shown.length) return null;
  return (
    <Taken title={t("memories")} more={of - shown.length}>
      {shown.map(({ memory, goes }) => (
        <li key={`${memory.type}/${memory.key}`}>
          <a href={memoryLink(memory, scope)}>{memory.sentence}</a> <Badge kind={goes ? "wrong" : "warn"}>{t(goes ? "erase.goes" : "erase.is_revised")}</Badge>
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
