/** Types: the scope's memory types as JSON, checked while they are typed. */

import { useEffect, useRef, useState } from "react";
import { api } from "../api/client";
import type { Complaint, Json, JsonObject, MemoryType } from "../api/shapes";
import { useAct } from "../lib/act";
import { useAsked, useLater } from "../lib/asking";
import { useDraft } from "../lib/drafts";
import { faultOf, lineOf } from "../lib/jsonlines";
import { useAround, useHere } from "../lib/session";
import { loadComplaints, retold } from "../lib/told_sentences";
import { useUndoable, wayBack } from "../lib/undo";
import { Badge, Dialog, PageHead } from "../parts/basics";
import { TypeSign } from "../parts/said";
import { ActFailure, Failure, Loading } from "../parts/states";

const CHECK_MS = 350;

export default function Types() {
  const { t } = useAround();
  const { scope, can } = useHere();
  const types = useAsked(() => api.types(scope), [scope]);
  return (
    <div className="page">
      <PageHead title={t("types")} about={t(can("write") ? "types.about" : "read_only")} />
      <Failure error={types.error} again={types.again} />
      {!types.value && !types.error && <Loading />}
      {types.value && <Editor key={JSON.stringify(scope)} types={types.value.types} saved={types.again} />}
    </div>
  );
}

interface Checked {
  text: string;
  complaints: Complaint[];
}

function Editor({ types, saved }: { types: MemoryType[]; saved: () => void }) {
  const { t, tell, named, settings } = useAround();
  const { scope, can } = useHere();
  const change = useUndoable();
  const [kept, keep] = useDraft(JSON.stringify(["types", scope]), { scope });
  const [text, setText] = useState(kept || written(types));
  const [error, setError] = useState<unknown>();
  const [round, setRound] = useState(0);
  const saving = useAct();
  const [checked, setChecked] = useState<Checked | null>(null);
  const [isAdding, setAdding] = useState(false);
  const area = useRef<HTMLTextAreaElement>(null);
  const later = useLater(text, CHECK_MS);
  const sentences = useAsked(() => loadComplaints(settings.language), [settings.language]).value;
  const fault = faultOf(text);
  const isSame = text === written(types);
  useEffect(() => keep(isSame ? "" : text), [text, isSame, keep]);
  useEffect(() => {
    if (faultOf(later)) return;
    const stop = new AbortController();
    api.checkTypes(scope, listed(JSON.parse(later) as Json), stop.signal).then(
      (answer) => { setChecked({ text: later, complaints: answer.complaints }); setError(undefined); },
      (problem: unknown) => { if (!stop.signal.aborted) setError(problem); },
    );
    return () => stop.abort();
  }, [later, round, JSON.stringify(scope)]);
  const isFresh = checked?.text === text && !fault;
  const isGood = isFresh && !checked.complaints.length;
  const save = () => {
    const before = types;
    void saving.run({
      request: () => change((undo) => api.putTypes(scope, listed(JSON.parse(text) as Json), undo)),
      succeed: (answer) => {
        tell(t("types.saved"), wayBack(scope, answer, () => {
          setText(written(before));
          saved();
        }));
        if (answer?.types) setText(written(answer.types));
        saved();
      },
    });
  };
  const goTo = (line: number) => {
    const element = area.current;
    if (!element) return;
    const lines = text.split("\n");
    const start = lines.slice(0, line - 1).reduce((sum, each) => sum + each.length + 1, 0);
    element.focus();
    element.setSelectionRange(start, start + (lines[line - 1]?.length ?? 0));
    element.scrollTop = (line - 4) * 20;
  };
  return (
    <div className="two types">
      <section className="block">
        <h2>{t("types.now")} <span className="faint">{types.length}</span></h2>
        <p className="hint">{t("types.hint")}</p>
        <ul className="type-list">
          {types.map((each) => (
            <li key={each.name}>
              <p className="type-head"><TypeSign type={each.name} /><strong>{named(each.name)}</strong>{named(each.name) !== each.name && <code>{each.name}</code>} <Badge>{t(each.update_mode === "patch" ? "types.patch" : "types.insert")}</Badge></p>
              <p className="faint">{named(each.description)}</p>
              <p className="fields">{fieldsOf(each).map((name) => <code key={name}>{name}</code>)}</p>
            </li>
          ))}
        </ul>
      </section>
      <section className="block">
        <h2>{t("types.json")}</h2>
        <textarea ref={area} className="code types-code" spellCheck={false} aria-label={t("types.json")} aria-describedby="types-check" aria-invalid={Boolean(fault) || (isFresh && !isGood)} value={text} readOnly={!can("write")} onChange={(event) => setText(event.target.value)} />
        <div id="types-check" className="check-line" role="status">
          {fault ? (
            <p className="fault"><button type="button" className="plain link" onClick={() => goTo(fault.line)}>{t("json.fault", { line: fault.line })}</button> {fault.message}</p>
          ) : !isFresh && error ? (
            <Failure error={error} again={() => setRound((n) => n + 1)} />
          ) : !isFresh ? (
            <p className="faint">{t("types.checking")}</p>
          ) : isGood ? (
            <p className="good">{t("types.good")}</p>
          ) : (
            <ul className="complaints">
              {checked.complaints.map((each, place) => {
                const line = lineOf(text, each.path);
                return <li key={place} className="fault">{line && <button type="button" className="plain link" onClick={() => goTo(line)}>{t("json.line", { line })}</button>} <code>{each.path}</code> {sentences ? retold(each.message, sentences) : each.message}</li>;
              })}
            </ul>
          )}
        </div>
        <ActFailure act={saving} />
        {isAdding && <AddType close={() => setAdding(false)} add={(added) => { setAdding(false); setText((before) => mergedInto(before, added)); }} />}
        {can("write") && (
          <footer className="dialog-acts">
            <button type="button" className="first-act" disabled={Boolean(fault)} onClick={() => setAdding(true)}>{t("types.add")}</button>
            <button type="button" disabled={isSame} onClick={() => setText(written(types))}>{t("types.revert")}</button>
            <button type="button" className="accent" disabled={!isGood || isSame || saving.isBusy} onClick={save}>{t("save")}</button>
          </footer>
        )}
      </section>
    </div>
  );
}

function AddType({ close, add }: { close: () => void; add: (types: Json) => void }) {
  const { t } = useAround();
  const [text, setText] = useState("");
  const fault = text.trim() ? faultOf(text) : null;
  return (
    <Dialog title={t("types.add")} close={close} act={() => text.trim() && !fault && add(listed(JSON.parse(text) as Json))}>
      <p className="hint">{t("types.add_about")}</p>
      <p className="chips-left">{t("types.begin_with")} {EXAMPLES.map((each) => <button key={each.name} type="button" className="small" onClick={() => setText(JSON.stringify(each, null, 2))}>{each.name}</button>)}</p>
      <textarea className="code" rows={14} spellCheck={false} autoFocus aria-label={t("types.json")} value={text} onChange={(event) => setText(event.target.value)} />
      {fault && <p className="fault" role="status">{t("json.fault", { line: fault.line })} {fault.message}</p>}
      <footer className="dialog-acts">
        <button type="button" onClick={close}>{t("cancel")}</button>
        <button type="submit" className="accent" disabled={!text.trim() || Boolean(fault)}>{t("types.add_do")}</button>
      </footer>
    </Dialog>
  );
}

/** Types to begin with: what the graph is drawn from, and a collection of people. */
const EXAMPLES = [
  {
    name: "Fact",
    description: "One statement about a person or thing, as subject, predicate and object.",
    update_mode: "insert",
    parameters: {
      type: "object",
      properties: {
        subject: { type: "string", description: "Whom or what it is about, by name" },
        predicate: { type: "string", description: "How the two belong together, in few words" },
        object: { type: ["string", "number", "boolean"], description: "The other person, thing or value" },
      },
      required: ["subject", "predicate", "object"],
    },
    single_valued: ["object"],
  },
  {
    name: "Person",
    description: "Somebody whom the user knows.",
    update_mode: "insert",
    parameters: {
      type: "object",
      properties: {
        name: { type: "string" },
        relationship: { type: "string", description: "Who they are to the user" },
        notes: { type: "string" },
      },
      required: ["name"],
    },
  },
];

/** The types of a text with others added: one of the same name is replaced where it stands. */
export function mergedInto(text: string, added: Json): string {
  const all = [...(listed(JSON.parse(text) as Json) as Json[])];
  const nameOf = (type: Json) => (type as JsonObject | null)?.name;
  for (const each of Array.isArray(added) ? added : [added]) {
    const place = all.findIndex((other) => nameOf(other) !== undefined && nameOf(other) === nameOf(each));
    if (place < 0) all.push(each);
    else all[place] = each;
  }
  return JSON.stringify(all, null, 2);
}

const written = (types: readonly MemoryType[]): string => JSON.stringify(types, null, 2);

/** One type alone is a list of one, as it is pasted. */
const listed = (value: Json): Json => [(value as JsonObject | null)?.types, value].find(Array.isArray) ?? [value];

const fieldsOf = (type: MemoryType): string[] => Object.keys(type.parameters.properties ?? {});
