/** A memory that a person writes: its type, its key, and a form made from the type. */

import { useEffect, useState } from "react";
import { api } from "../api/client";
import { Problem } from "../api/problem";
import type { JsonObject, Memory, MemoryType } from "../api/shapes";
import { useAct } from "../lib/act";
import { useDraft } from "../lib/drafts";
import { newName } from "../lib/storage";
import { isSame } from "../lib/outcomes";
import { faultsIn } from "../lib/schema_form";
import { useAround, useHere } from "../lib/session";
import { standing } from "../lib/standing";
import { noteWritten } from "../lib/written_here";
import { Dialog, Field } from "../parts/basics";
import { ActFailure } from "../parts/states";
import { useValueDraft, ValueForm, type KeptForm } from "../parts/value_form";

/** Of a type that nobody described: it is written as JSON. */
const NO_SCHEMA: JsonObject = {};
const NOTHING: JsonObject = {};

interface AddDraft {
  type: string;
  form: KeptForm;
}

export function AddMemory({ types, close, added }: { types: readonly MemoryType[]; close: () => void; added: (memory: Memory) => void }) {
  const { t } = useAround();
  const { scope } = useHere();
  const names = types.map((each) => each.name);
  const [typed, keep] = useDraft(JSON.stringify(["add", scope]), { scope });
  const [before] = useState(() => JSON.parse(typed || "{}") as Partial<AddDraft>);
  const [type, setType] = useState(before.type ?? names.find((each) => each === "Note") ?? names[0] ?? "Note");
  const [key, setKey] = useState(() => newName("memory"));
  const draft = useValueDraft(types.find((each) => each.name === type)?.parameters ?? NO_SCHEMA, NOTHING, before.form);
  const act = useAct();
  const written = JSON.stringify({ type, form: draft.kept } satisfies AddDraft);
  useEffect(() => keep(written), [written, keep]);
  const leave = () => {
    keep("");
    close();
  };
  const { value } = draft;
  const save = () => {
    draft.reveal();
    if (draft.isFaulty || !value) return;
    void act.run({
      request: () => api.put(scope, type, key, { value }),
      outcome: async () => {
        const now = await standing(scope, { type, key });
        return now && isSame(now.value, value) ? now : undefined;
      },
      succeed: (memory) => {
        keep("");
        noteWritten(scope, memory);
        added(memory);
      },
    });
  };
  return (
    <Dialog title={t("memories.add_one")} close={leave} act={save}>
      <Field label={t("memories.type")}>{(id) => <><input id={id} list={`${id}-types`} value={type} required onChange={(event) => setType(event.target.value)} /><datalist id={`${id}-types`}>{names.map((name) => <option key={name} value={name} />)}</datalist></>}</Field>
      <ValueForm {...draft.props} told={act.error instanceof Problem ? faultsIn(act.error.detail, draft.fields) : undefined} />
      <details className="add-more" open={!key.trim()}>
        <summary>{t("memory.key")}</summary>
        <input aria-label={t("memory.key")} value={key} required onChange={(event) => setKey(event.target.value)} />
        <p className="hint">{t("memory.key_about")}</p>
      </details>
      <ActFailure act={act} />
      <footer className="dialog-acts">
        <button type="button" onClick={leave}>{t("cancel")}</button>
        <button type="submit" className="accent" disabled={act.isBusy}>{t("save")}</button>
      </footer>
    </Dialog>
  );
}
