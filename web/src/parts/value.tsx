/** A memory's value as a person reads it: names and values, with the evidence of each place. */

import type { ReactNode } from "react";
import type { Evidence, EvidenceMap, FileLines, Json, JsonObject, Scope } from "../api/shapes";
import { quoteOf } from "../lib/evidence";
import { inOrder } from "../lib/field_order";
import { shown } from "../lib/pointer";
import { linkTo } from "../lib/route";
import { useAround, useYesNo } from "../lib/session";
import { Icon } from "./icons";

export function evidenceLink(evidence: Evidence, scope: Scope): string {
  return linkTo(["chat", evidence.thread], scope, { message: evidence.message, quote: evidence.quote });
}

export function Quotes({ evidence, scope }: { evidence: readonly Evidence[]; scope: Scope }) {
  const { t } = useAround();
  return (
    <ul className="quotes">
      {evidence.map((each, place) => (
        <li key={place}>
          {(each.kind ?? "message") === "message" ? (
            <a className="quote" href={evidenceLink(each, scope)}>
              <Icon name="link" />
              <span>{quoteOf(each, t)}</span>
            </a>
          ) : (
            <span className="quote">
              <span>{each.file ? t("evidence.file", { place: placeIn(each.file) }) : t("evidence.agent")}{each.quote && <> <code>{each.quote}</code></>}</span>
            </span>
          )}
        </li>
      ))}
    </ul>
  );
}

/** Path and lines as compilers write them; no link, since no one here opens the file. */
function placeIn(file: FileLines): string {
  const last = file.last_line && file.last_line !== file.line ? `-${file.last_line}` : "";
  return `${file.path}:${file.line}${last}`;
}

function below(evidence: EvidenceMap, pointer: string): Evidence[] {
  return evidence[pointer] ?? [];
}

export function Value({ value, evidence = {}, scope, at = "", aside, below: told }: {
  value: JsonObject;
  evidence?: EvidenceMap;
  scope: Scope;
  at?: string;
  /** What stands beside the name of each field. */
  aside?: (pointer: string, name: string) => ReactNode;
  /** What stands below the value of each field. */
  below?: (pointer: string) => ReactNode;
}) {
  const { named } = useAround();
  return (
    <dl className="value">
      {inOrder(Object.entries(value)).map(([name, each]) => {
        const pointer = `${at}/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`;
        return (
          <div key={name} className="value-row">
            <dt>
              {named(name.replaceAll("_", " "))}
              {aside?.(pointer, named(name.replaceAll("_", " ")))}
            </dt>
            <dd>
              <Part value={each} pointer={pointer} evidence={evidence} scope={scope} />
              {told?.(pointer)}
            </dd>
          </div>
        );
      })}
    </dl>
  );
}

function Part({ value, pointer, evidence, scope }: { value: Json; pointer: string; evidence: EvidenceMap; scope: Scope }) {
  const yesNo = useYesNo();
  const own = below(evidence, pointer);
  if (Array.isArray(value)) {
    if (!value.length) return <span className="faint">[ ]</span>;
    return (
      <>
        <ul className="value-list">
          {value.map((each, place) => (
            <li key={place}>
              <Part value={each} pointer={`${pointer}/${place}`} evidence={evidence} scope={scope} />
            </li>
          ))}
        </ul>
        {own.length > 0 && <Quotes evidence={own} scope={scope} />}
      </>
    );
  }
  if (value !== null && typeof value === "object") {
    return <Value value={value} evidence={evidence} scope={scope} at={pointer} />;
  }
  return (
    <>
      <span className="leaf">{value === null ? "null" : shown(value, yesNo)}</span>
      {own.length > 0 && <Quotes evidence={own} scope={scope} />}
    </>
  );
}
