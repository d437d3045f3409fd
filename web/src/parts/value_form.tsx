/** Editing a memory's value: a form made from the schema of its type, or the JSON itself. */

import { useEffect, useId, useRef, useState } from "react";
import type { JsonObject } from "../api/shapes";
import { useAsked } from "../lib/asking";
import { objectFaultOf } from "../lib/jsonlines";
import { documentOf, draftOf, fieldsOf, type Draft, type FieldFault, type FormField } from "../lib/schema_form";
import { useAround } from "../lib/session";
import { loadComplaints, retold } from "../lib/told_sentences";

export interface ValueDraft {
  /** What is typed as a document, or null if it is none. */
  value: JsonObject | null;
  isFaulty: boolean;
  /** Whether the schema was broken somewhere, or a text is no JSON: shown at once, and asked for before it is sent. */
  reveal: () => void;
  fields: readonly FormField[];
  kept: KeptForm;
  props: FormProps;
}

/** What is typed in a form, as it is kept until it is saved. */
export interface KeptForm {
  base: JsonObject;
  isJson: boolean;
  text: string;
  typed: Draft;
}

interface FormProps {
  isJson: boolean;
  setJson: (isJson: boolean) => void;
  text: string;
  setText: (text: string) => void;
  fields: readonly FormField[];
  draft: Draft;
  /** Types in a field, by its pointer. */
  type: (pointer: string, typed: string) => void;
  faults: ReadonlyMap<string, FieldFault>;
  isRevealed: boolean;
}

/** What is typed for a value of a type; `schema` may come later than the value. */
export function useValueDraft(schema: JsonObject, before: JsonObject, kept?: KeptForm): ValueDraft {
  const { t } = useAround();
  const [base, setBase] = useState(kept?.base ?? before);
  const fields = fieldsOf(schema, base);
  const [isJson, setIsJson] = useState(kept?.isJson ?? false);
  const [text, setText] = useState(kept?.text ?? "");
  const [typed, setTyped] = useState<Draft>(kept?.typed ?? {});
  const [isRevealed, setRevealed] = useState(false);
  const draft = { ...draftOf(fields, base), ...typed };
  const filled = documentOf(fields, draft, base);
  // Nothing but what was typed: what the other fields hold depends on their kinds, which come with the schema.
  const type = (pointer: string, said: string) => setTyped((before) => ({ ...before, [pointer]: said }));
  const fault = isJson ? objectFaultOf(text, t("json.no_object")) : null;
  const value = !isJson ? filled.value : fault ? null : (JSON.parse(text) as JsonObject);
  const setJson = (wanted: boolean) => {
    if (wanted) setText(JSON.stringify(filled.value, null, 2));
    else if (value) {
      setBase(value);
      setTyped({});
    } else return;
    setIsJson(wanted);
  };
  return {
    value, fields, kept: { base, isJson, text, typed },
    isFaulty: isJson ? fault !== null : filled.faults.size > 0,
    reveal: () => setRevealed(true),
    props: { isJson, setJson, text, setText, fields, draft, type, faults: filled.faults, isRevealed },
  };
}

/** The form, with the switch to JSON; `told` is what the service found wrong. */
export function ValueForm({ isJson, setJson, text, setText, fields, draft, type, faults, isRevealed, told, focused }: FormProps & { told?: ReadonlyMap<string, FieldFault>; /** The field in which typing begins, by its pointer or place; the last of a sentence is what it says, and is replaced by what is typed. */ focused?: string }) {
  const { t } = useAround();
  const form = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const inputs = [...(form.current?.querySelectorAll<HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement>("input, textarea, select") ?? [])];
    const input = focused === undefined ? undefined : (inputs.find((each) => each.closest<HTMLElement>("[data-field]")?.dataset.field === focused) ?? inputs.at(focused === "last" ? -1 : 0));
    input?.focus();
    if (focused === "last" && input && "select" in input) input.select();
  }, [focused, fields.length > 0]);
  // A browser puts what is typed into in the window, and not above what sticks to its end: that would cover it.
  // Scrolling may return a promise, which is no clean-up of an effect.
  const showWhole = () => void form.current?.querySelector(":is(input, textarea):focus")?.scrollIntoView({ block: "nearest" });
  // The schema may come later than the value, and with it fields above that one.
  useEffect(showWhole, [fields.length]);
  const fault = isJson ? objectFaultOf(text, t("json.no_object")) : null;
  const hasNone = fields.length === 0;
  return (
    <div className="value-form" ref={form} onFocus={showWhole}>
      <div className="as" role="group" aria-label={t("form.as")}>
        <button type="button" aria-pressed={!isJson} disabled={fault !== null} onClick={() => setJson(false)}>{t("form.form")}</button>
        <button type="button" aria-pressed={isJson} onClick={() => isJson || setJson(true)}>JSON</button>
      </div>
      {isJson ? (
        <>
          <textarea className="code" aria-label={t("memory.value")} spellCheck={false} autoFocus rows={Math.min(24, text.split("\n").length + 1)} value={text} onChange={(event) => setText(event.target.value)} />
          {fault && <p className="fault" role="status">{t("json.fault", { line: fault.line })} {fault.message}</p>}
        </>
      ) : hasNone ? <p className="hint">{t("form.no_fields")}</p> : (
        <Fields fields={fields} draft={draft} change={type} faultOf={(field) => told?.get(field.pointer) ?? shownFault(field, draft, faults.get(field.pointer), isRevealed)} />
      )}
    </div>
  );
}

/** That something is missing is said when it is to be saved, anything else while it is typed. */
const shownFault = (field: FormField, draft: Draft, fault: FieldFault | undefined, isRevealed: boolean): FieldFault | undefined =>
  fault && (isRevealed || (draft[field.pointer] ?? "") !== "") ? fault : undefined;

interface FieldsProps {
  fields: readonly FormField[];
  draft: Draft;
  change: (pointer: string, typed: string) => void;
  faultOf: (field: FormField) => FieldFault | undefined;
}

function Fields({ fields, ...rest }: FieldsProps) {
  const { named } = useAround();
  return (
    <div className="form-fields">
      {fields.map((field) => field.kind === "group"
        ? <fieldset key={field.pointer} className="form-group"><legend>{named(field.label)}</legend>{field.about && <p className="hint">{named(field.about)}</p>}<Fields fields={field.fields} {...rest} /></fieldset>
        : <OneField key={field.pointer} field={field} rows={fields.length === 1 ? ALONE_ROWS : 1} typed={rest.draft[field.pointer] ?? ""} change={(typed) => rest.change(field.pointer, typed)} fault={rest.faultOf(field)} />)}
    </div>
  );
}

/** The only field of a type holds a text of some length. */
const ALONE_ROWS = 3;

function OneField({ field, rows, typed, change, fault }: { field: FormField; rows: number; typed: string; change: (typed: string) => void; fault: FieldFault | undefined }) {
  const { t, named, settings } = useAround();
  const sentences = useAsked(() => loadComplaints(settings.language), [settings.language]).value;
  const id = useId();
  const said = named(field.about);
  const about = field.kind === "lines" ? [said, t("form.lines")].filter(Boolean).join(" · ") : said;
  return (
    <div className={fault ? "field at-fault" : "field"} data-field={field.pointer}>
      <label htmlFor={id}>{named(field.label)}{field.isRequired && <span className="faint"> · {t("form.needed")}</span>}</label>
      <Input id={id} field={field} rows={rows} typed={typed} change={change} isFaulty={fault !== undefined} describedBy={`${id}-about ${id}-fault`} />
      {about && <p className="hint" id={`${id}-about`}>{about}</p>}
      <p className="fault" id={`${id}-fault`} role="status">{fault && (fault.word === "told" ? retold(String(fault.values?.message), sentences ?? new Map()) : t(`form.${fault.word}`, fault.values))}</p>
    </div>
  );
}

function Input({ id, field: { kind, choices, schema }, rows, typed, change, isFaulty, describedBy }: { id: string; field: FormField; rows: number; typed: string; change: (typed: string) => void; isFaulty: boolean; describedBy: string }) {
  const { t } = useAround();
  const common = { id, value: typed, "aria-invalid": isFaulty, "aria-describedby": describedBy, onChange: (event: { target: { value: string } }) => change(event.target.value) };
  if (kind === "choice") return <select {...common}><option value="">{t("form.none")}</option>{choices.map((each) => <option key={JSON.stringify(each)} value={JSON.stringify(each)}>{String(each)}</option>)}</select>;
  if (kind === "yes_no") return <select {...common}><option value="">{t("form.none")}</option><option value="true">{t("form.yes")}</option><option value="false">{t("form.no")}</option></select>;
  if (kind === "number") return <input {...common} inputMode={schema.type === "integer" ? "numeric" : "decimal"} />;
  if (kind === "json") return <textarea {...common} className="code" spellCheck={false} rows={Math.min(10, typed.split("\n").length + 1)} />;
  return <textarea {...common} className={rows > 1 ? "roomy" : undefined} rows={kind === "lines" ? Math.min(8, typed.split("\n").length + 1) : Math.max(rows, Math.min(6, 1 + Math.floor(typed.length / 60) + typed.split("\n").length - 1))} />;
}
