/** What the frame asks in dialogs, which come when they are asked for: which scope is shown, and what the shortcuts are. */

import { useState } from "react";
import { api } from "../api/client";
import type { Scope } from "../api/shapes";
import { useAsked } from "../lib/asking";
import { matching, readScopes } from "../lib/scope_choice";
import { useAround, useHere } from "../lib/session";
import { Dialog, Field } from "./basics";
import { Failure } from "./states";
import type { Word } from "../words";

export function ChooseScope({ close, canList, choose }: { close: () => void; canList: boolean; choose: (scope: Scope) => void }) {
  const { t } = useAround();
  const { scope, me } = useHere();
  const [typed, setTyped] = useState(scope.join("\n"));
  const scopes = useAsked(async () => (canList ? readScopes(api.scopes) : undefined), [canList]);
  const [words, setWords] = useState("");
  const { shown, hasMore } = matching(scopes.value ?? { scopes: [], isCut: false }, words);
  return (
    <Dialog title={t("scope.choose")} close={close} act={() => choose(typed.split("\n").map((each) => each.trim()).filter(Boolean))}>
      <p className="hint">{t("scope.about", { scope: (me.prefix ?? me.scope).join(" / ") || t("scope.own") })}</p>
      {canList && (
        <>
          <input type="search" aria-label={t("scope.search")} placeholder={t("scope.search")} value={words} onChange={(event) => setWords(event.target.value)} />
          <Failure error={scopes.error} again={scopes.again} />
          <ul className="scope-list">
            <li><button type="button" className={scope.length ? "plain" : "plain here"} onClick={() => choose([])}>{t("scope.own")}</button></li>
            {shown.map((each) => <li key={each.join("\n")}><button type="button" className={each.join("\n") === scope.join("\n") ? "plain here" : "plain"} onClick={() => choose(each)}>{each.join(" / ")}</button></li>)}
          </ul>
          {hasMore && <p className="hint">{t("scope.more")}</p>}
        </>
      )}
      <Field label={t("scope.segments")} hint={t("scope.segments_hint")}>{(id) => <textarea id={id} rows={3} value={typed} onChange={(event) => setTyped(event.target.value)} />}</Field>
      <footer className="dialog-acts"><button type="button" onClick={close}>{t("cancel")}</button><button type="submit" className="accent">{t("scope.go")}</button></footer>
    </Dialog>
  );
}

export function Shortcuts({ places, close }: { places: readonly { name: Word; letter: string }[]; close: () => void }) {
  const { t, settings, change } = useAround();
  const rows: [string, string][] = [["/", t("shortcut.search")], ["?", t("shortcuts")], ...places.map((each): [string, string] => [`g ${each.letter}`, t(each.name)])];
  return (
    <Dialog title={t("shortcuts")} close={close} act={close}>
      <dl className="facts">{rows.map(([keys, what]) => <div key={keys}><dt><kbd>{keys}</kbd></dt><dd>{what}</dd></div>)}</dl>
      <label className="check"><input type="checkbox" checked={settings.shortcuts} onChange={(event) => change({ shortcuts: event.target.checked })} />{t("settings.shortcuts")}</label>
    </Dialog>
  );
}
