/** The service's routes: parameters, examples of request and answer, and a command line to copy; shown without a key, too. */

import { useContext, useEffect, useMemo, useState } from "react";
import type { Json, JsonObject } from "../api/shapes";
import { unreachable } from "../api/problem";
import { curlOf, operationsOf, type Operation, type Parameter, type Told } from "../lib/api_document";
import { useAsked } from "../lib/asking";
import { inlinesOf } from "../lib/rich_text";
import { go, linkTo, useRoute } from "../lib/route";
import { loadRouteWords, named } from "../lib/route_names";
import { HereContext, useAround } from "../lib/session";
import { useTitle } from "../lib/title";
import { PageHead } from "../parts/basics";
import { CopyButton } from "../parts/copy_button";
import { Empty, Failure, Loading } from "../parts/states";

const base = new URL(".", document.baseURI);

async function askDocument(): Promise<JsonObject> {
  const response = await fetch(new URL("openapi.json", base), { credentials: "omit" }).catch(() => null);
  if (!response?.ok) throw unreachable();
  return (await response.json()) as JsonObject;
}

export default function Api() {
  const { t, settings } = useAround();
  const { parts, scope } = useRoute();
  const chosen = parts[1];
  useTitle(t("api"), "");
  const asked = useAsked(() => Promise.all([askDocument(), loadRouteWords(settings.language)]), [settings.language]);
  const [words, setWords] = useState("");
  const operations = useMemo(() => (asked.value ? named(operationsOf(asked.value[0]), ...asked.value[1]) : []), [asked.value]);
  const sought = words.trim().toLowerCase();
  const found = operations.filter((each) => [each.path, each.summary, each.id, each.method].some((one) => one.toLowerCase().includes(sought)));
  const groups = [...new Set(found.map((each) => each.group))];
  useEffect(() => {
    if (chosen && operations.length) document.getElementById(`api-${chosen}`)?.scrollIntoView({ block: "start" });
  }, [chosen, operations]);
  return (
    <div className="page wide-page">
      <PageHead title={t("api")} about={t("api.about")}>
        <a className="button" href={new URL("openapi.json", base).href}>openapi.json</a>
      </PageHead>
      <Failure error={asked.error} again={asked.again} />
      {!asked.value && !asked.error && <Loading rows={6} />}
      {asked.value && (
        <div className="api-columns">
          <nav className="api-nav" aria-label={t("api.routes")}>
            <input type="search" id="search" value={words} placeholder={t("api.search")} aria-label={t("api.search")} onChange={(event) => setWords(event.target.value)} />
            {groups.map((group) => (
              <div key={group}>
                <h2>{asked.value?.[1][0].groups[group] ?? group}</h2>
                <ul>{found.filter((each) => each.group === group).map((each) => <li key={each.id}><a className={each.id === chosen ? "api-link here" : "api-link"} aria-current={each.id === chosen ? "true" : undefined} href={linkTo(["api", each.id], scope)}><Method name={each.method} /><span>{each.summary || each.path}</span></a></li>)}</ul>
              </div>
            ))}
            {!found.length && <p className="faint">{t("api.none")}</p>}
          </nav>
          <div className="api-operations">
            {!found.length && <Empty icon="api" title={t("api.none")} />}
            {found.map((each) => <Shown key={each.id} operation={each} isOpen={each.id === chosen} toggle={(isOpen) => isOpen && each.id !== chosen && go(linkTo(["api", each.id], scope), true)} />)}
          </div>
        </div>
      )}
    </div>
  );
}

const Method = ({ name }: { name: string }) => <code className={`method method-${name.toLowerCase()}`}>{name}</code>;

function Shown({ operation, isOpen, toggle }: { operation: Operation; isOpen: boolean; toggle: (isOpen: boolean) => void }) {
  const [wasOpen, setOpen] = useState(isOpen);
  useEffect(() => {
    if (isOpen) setOpen(true);
  }, [isOpen]);
  return (
    <details className="fold api-operation" id={`api-${operation.id}`} open={wasOpen} onToggle={(event) => { setOpen(event.currentTarget.open); toggle(event.currentTarget.open); }}>
      <summary><Method name={operation.method} /><code className="api-path">{operation.path}</code><span className="faint">{operation.summary}</span></summary>
      {wasOpen && <Whole operation={operation} />}
    </details>
  );
}

function Whole({ operation }: { operation: Operation }) {
  const { t } = useAround();
  const looked = useContext(HereContext)?.scope;
  const [good, ...others] = operation.answers;
  const listed = operation.parameters.filter((each) => each.name !== "idempotency-key");
  return (
    <div className="api-whole">
      {operation.description && <p className="api-about"><Described text={operation.description} /></p>}
      <Example title="curl" text={curlOf(operation, base.href, looked)} />
      <Parameters title={t("api.parameters")} rows={listed} />
      {operation.body && <Parameters title={t("api.body")} rows={operation.body.fields} />}
      {good && <Example title={`${good.status} ${t("api.answer")}`} text={shownOf(good)} />}
      {others.length > 0 && <Others answers={others} />}
    </div>
  );
}

const shownOf = ({ example, mediaType }: Told): string => (example === undefined ? mediaType : typeof example === "string" ? example : JSON.stringify(example, null, 2));

function Parameters({ title, rows }: { title: string; rows: readonly Parameter[] }) {
  const { t } = useAround();
  if (!rows.length) return null;
  return (
    <div className="scrolled" tabIndex={0} role="region" aria-label={title}>
      <table className="plain-table">
        <caption className="unseen">{title}</caption>
        <thead><tr><th scope="col">{title}</th><th scope="col">{t("api.type")}</th><th scope="col">{t("api.meaning")}</th></tr></thead>
        <tbody>{rows.map((each) => (
          <tr key={`${each.where} ${each.name}`}>
            <th scope="row"><code>{each.name}</code>{each.isRequired && <span className="needed"> {t("form.needed")}</span>}</th>
            <td><code className="faint">{each.type}</code></td>
            <td><Described text={each.description} />{each.example !== undefined && <code className="faint api-example"> {told(each.example)}</code>}</td>
          </tr>
        ))}</tbody>
      </table>
    </div>
  );
}

const told = (value: Json): string => (typeof value === "string" ? value : JSON.stringify(value));

function Example({ title, text }: { title: string; text: string }) {
  return (
    <figure className="api-code" data-copied>
      <figcaption>{title}<CopyButton text={text} /></figcaption>
      <pre className="rendered" tabIndex={0}>{text}</pre>
    </figure>
  );
}

/** The other answers, most of them refusals, each with an example of its own. */
function Others({ answers }: { answers: readonly Told[] }) {
  const { t } = useAround();
  return (
    <details className="api-others">
      <summary>{t("api.others", { count: answers.length })}</summary>
      <dl>{answers.map((each) => <div key={each.status}><dt>{each.status} <Described text={each.description} /></dt><dd>{each.example !== undefined && <pre className="rendered" tabIndex={0}>{shownOf(each)}</pre>}</dd></div>)}</dl>
    </details>
  );
}

/** A description with its code as code. */
function Described({ text }: { text: string }) {
  return inlinesOf(text).map((each, place) => (each.kind === "code" ? <code key={place}>{each.text}</code> : each.text));
}
