/** Editing a memory: a correction of it, or what is true in its place from a day on. */

import { useEffect, useState } from "react";
import { api, type Undoable } from "../api/client";
import { isConflict, Problem } from "../api/problem";
import type { JsonObject, Memory, Scope } from "../api/shapes";
import { useAct } from "../lib/act";
import { useAsked } from "../lib/asking";
import { dayOf } from "../lib/days";
import { readDraft, useDraft } from "../lib/drafts";
import { leftBy, nextOf } from "../lib/kept_changes";
import { keptEvidence } from "../lib/memory_acts";
import { isEdited, isSame } from "../lib/outcomes";
import { pointerOf, type YesNo } from "../lib/pointer";
import { go, useRoute } from "../lib/route";
import { faultsIn } from "../lib/schema_form";
import { isDocument, placesSaid, shortened } from "../lib/sentences";
import { useAround, useHere, useWording, useYesNo } from "../lib/session";
import { standing } from "../lib/standing";
import { toldOf } from "../lib/take_back";
import { newName } from "../lib/storage";
import { useUndoable, wayBack } from "../lib/undo";
import { noteWritten } from "../lib/written_here";
import { memoryLink } from "../parts/basics";
import { DayInput } from "../parts/day_input";
import { ActFailure } from "../parts/states";
import { useValueDraft, ValueForm, type KeptForm } from "../parts/value_form";

/** What a correction made of a memory: of a document the fields that it changed. */
function changeTold(before: Memory, after: Memory, named: (name: string) => string, yesNo: YesNo): string {
  const fields = Object.keys({ ...before.value, ...after.value }).filter((each) => !isSame(before.value[each] ?? null, after.value[each] ?? null));
  const said = isDocument(after) && placesSaid(after.value, fields.map((each) => pointerOf([each])), named, yesNo);
  return said ? shortened(said) : toldOf(after, named);
}

export function EditMemory({ memory, done, cancel }: { memory: Memory; done: () => void; cancel: () => void }) {
  const { t, tell, named } = useAround();
  const yesNo = useYesNo();
  const wording = useWording();
  const { scope } = useHere();
  const { query } = useRoute();
  const change = useUndoable();
  const types = useAsked(() => api.types(scope), [scope]);
  const type = types.value?.types.find((each) => each.name === memory.type);
  const place = placeOf(scope, memory.type, memory.key);
  const [kept] = useState(() => draftIn(readDraft(place)));
  // What was typed on a version is saved on that one: where it changed meanwhile, the service says so.
  const [base] = useState(() => (kept ? { ...memory, version: kept.version } : memory));
  const [, keep] = useDraft(place, { scope, memory: { type: base.type, key: base.key, version: base.version } });
  const draft = useValueDraft(type?.parameters ?? {}, base.value, kept?.form);
  const [from, setFrom] = useState(kept?.from ?? local(base.valid_from));
  const [until, setUntil] = useState(kept?.until ?? local(base.valid_until));
  const [isNew, setNew] = useState(kept?.isNew ?? false);
  const today = dayOf(Date.now());
  const [day, setDay] = useState(kept?.day ?? today);
  const [newKey] = useState(() => newName("memory"));
  const act = useAct();
  const { value } = draft;
  const typed = JSON.stringify(value);
  useEffect(act.dismiss, [typed, act.dismiss]);
  const isUntouched = value !== null && isSame(value, base.value) && from === local(base.valid_from) && until === local(base.valid_until);
  const written = JSON.stringify({ form: draft.kept, from, until, isNew, day, version: base.version } satisfies EditDraft);
  useEffect(() => keep(isUntouched ? "" : written), [written, isUntouched, keep]);
  const leave = () => {
    keep("");
    cancel();
  };
  const canChange = type !== undefined && base.state === "active" && !(base.valid_until && Date.parse(base.valid_until) <= Date.now());
  // A document holds many things: one of them changes, and it stays the same document.
  const isDocumentType = type?.update_mode === "patch";
  const isChange = isNew && canChange;
  const changeMoment = () => (day === today ? new Date().toISOString() : `${day}T00:00:00Z`);
  const replace = (said: JsonObject) => {
    const at = changeMoment();
    const { type: typeName, key, version } = base;
    void act.run<Memory & Undoable>({
      request: () => change((undo) => api.put(scope, typeName, newKey, { value: said, valid_from: at, replaces: { type: typeName, key, version } }, undefined, undo)),
      outcome: async () => {
        const now = await standing(scope, { type: typeName, key: newKey });
        return now && isSame(now.value, said) ? now : undefined;
      },
      succeed: (made) => {
        keep("");
        const undone = () => {
          go(memoryLink(base, scope));
          done();
        };
        noteWritten(scope, made);
        tell(t("told.replaced", { what: toldOf(base, named), now: toldOf(made, named), day: wording.day(day) }), wayBack(scope, made, undone, { what: toldOf(made, named), memories: [...leftBy(scope, made), nextOf(scope, base)] }));
        done();
        go(memoryLink(made, scope));
      },
    });
  };
  const save = () => {
    draft.reveal();
    if (draft.isFaulty || !value) return;
    // A version that says what the one before says would only hide who wrote that.
    if (isUntouched) return leave();
    if (isChange && isSame(value, base.value)) return leave();
    if (isChange && !isDocumentType) return replace(value);
    const { type: typeName, key, expires_at } = base;
    const put = { value, valid_from: utc(from, base.valid_from), valid_until: utc(until, base.valid_until), expires_at, evidence: keptWhereSame(base, value), ...(isChange && { changed_at: changeMoment() }) };
    void act.run<Memory & Undoable>({
      request: () => change((undo) => api.put(scope, typeName, key, put, base.version, undo)),
      outcome: async () => {
        const now = await standing(scope, base);
        return now && isEdited(base, now, value) ? now : undefined;
      },
      succeed: (changed) => {
        keep("");
        noteWritten(scope, changed);
        const what = changeTold(base, changed, named, yesNo);
        tell(t("told.edited", { version: changed.version, what }), wayBack(scope, changed, done, { what, memories: leftBy(scope, changed) }));
        done();
      },
    });
  };
  return (
    <form className="block edit" onSubmit={(event) => { event.preventDefault(); save(); }} onKeyDown={(event) => { if (event.key === "Escape") leave(); if (event.key === "Enter" && (event.metaKey || event.ctrlKey)) save(); }}>
      <h2>{t("edit")}</h2>
      <ValueForm focused={query.get("field") ?? (isDocument(base) ? "first" : "last")} {...draft.props} told={act.error instanceof Problem ? faultsIn(act.error.detail, draft.fields) : undefined} />
      {!isChange && !isUntouched && base.valid_from && from === local(base.valid_from) && <p className="notice">{t("edit.still_from", { day: wording.day(base.valid_from) })}</p>}
      {!isChange && <div className="pair">
        <label>{t("memory.valid_from")}<input type="datetime-local" value={from} onChange={(event) => setFrom(event.target.value)} /></label>
        <label>{t("memory.valid_until")}<input type="datetime-local" value={until} onChange={(event) => setUntil(event.target.value)} /></label>
      </div>}
      {!isChange && <p className="hint">{t("edit.times")}</p>}
      <footer className="edit-end">
        {isConflict(act.error) ? <p className="notice" role="alert">{t("edit.conflict")}</p> : <ActFailure act={act} />}
        {canChange && (
          <fieldset className="edit-kind">
            <legend>{t("edit.kind")}</legend>
            <label className="check"><input type="radio" name="kind" checked={!isNew} onChange={() => setNew(false)} />{t("edit.wrong")}</label>
            <span className="edit-changed">
              <label className="check"><input type="radio" name="kind" checked={isNew} onChange={() => setNew(true)} />{t("edit.changed")}</label>
              <DayInput aria-label={t("edit.changed_on")} value={day} min={base.valid_from?.slice(0, 10)} max={today} required disabled={!isNew} onChange={(event) => setDay(event.target.value)} />
            </span>
          </fieldset>
        )}
        {isChange && <p className="hint">{t(isDocumentType ? "edit.changed_document" : "edit.changed_about")}</p>}
        <div className="dialog-acts">
          <button type="button" onClick={leave}>{t("cancel")}</button>
          <button type="submit" className="accent" disabled={act.isBusy}>{t("save")}</button>
        </div>
      </footer>
    </form>
  );
}

interface EditDraft {
  form: KeptForm;
  from: string;
  until: string;
  isNew: boolean;
  day: string;
  version: number;
}

const placeOf = (scope: Scope, type: string, key: string): string => JSON.stringify(["edit", scope, type, key]);

function draftIn(text: string): EditDraft | undefined {
  try {
    return text ? (JSON.parse(text) as EditDraft) : undefined;
  } catch {
    return undefined;
  }
}

/** Whether something was typed here that was neither saved nor cancelled: the form opens with it again. */
export const hasEditDraft = (scope: Scope, type: string, key: string): boolean => draftIn(readDraft(placeOf(scope, type, key))) !== undefined;

/** A time as its field shows it, to the minute. */
const local = (at: string | null): string => at?.slice(0, 16) ?? "";

/** The time of a field; what was not changed keeps its seconds. */
const utc = (typed: string, before: string | null): string | null =>
  typed === local(before) ? before : typed ? new Date(`${typed}Z`).toISOString() : null;

/** Evidence of what the edit left as it was; words that a person writes rest on no message. */
function keptWhereSame(memory: Memory, value: JsonObject): Memory["evidence"] {
  const same = Object.fromEntries(Object.entries(value).filter(([name, each]) => JSON.stringify(each) === JSON.stringify(memory.value[name])));
  const isWhole = JSON.stringify(value) === JSON.stringify(memory.value);
  const { "": whole, ...fields } = keptEvidence(memory.evidence, same);
  return whole && isWhole ? { "": whole, ...fields } : fields;
}
