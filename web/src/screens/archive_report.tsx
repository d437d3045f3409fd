/** What came of an import: how much was kept, what was left out, and why. */

import type { ReactNode } from "react";
import type { CodedReason, FileReport, Imported } from "../api/shapes";
import { useAsked } from "../lib/asking";
import { countsSaid, rowsOf, type RowCounts } from "../lib/import_queue";
import { foundFor } from "../lib/sentence_keys";
import { loadDifferences } from "../lib/told_sentences";
import { placeOf, refusalsOf, whyRowRefused, type Refusal, type RefusedRow } from "../lib/import_refusals";
import { linkTo } from "../lib/route";
import { useAround, useWording } from "../lib/session";
import { ThreadName } from "../parts/thread_name";
import type { Word } from "../words";

const REASONS_SHOWN = 20;
const PLACES_SHOWN = 3;

/** Says what became of rows: how many are new, were there already, were refused. */
export function useCountsSaid(): (rows: RowCounts) => string {
  const { t } = useAround();
  const wording = useWording();
  return (rows) => countsSaid(rows).map(([word, count]) => t(word, { count, total: wording.number(count) })).join(t("permission.between"));
}

/** A report; where it is one of several it is folded, unless something in it was refused. */
function Reported({ name, isOpen, rows, children }: { name: string; isOpen: boolean; rows: RowCounts; children: ReactNode }) {
  const { t } = useAround();
  const said = useCountsSaid();
  return (
    <details className="report" open={isOpen || rows.refused > 0}>
      <summary><h3>{name}</h3><span className="faint">{said(rows)}</span></summary>
      <div className="report-body" role="region" aria-label={t("import.of", { name })}>{children}</div>
    </details>
  );
}

export function FileTold({ report, isOpen }: { report: FileReport; isOpen: boolean }) {
  const { t, settings } = useAround();
  const wording = useWording();
  const counts = [
    ["import.rows", report.rows], ["import.new", report.taken], ["import.present", report.present], ["import.refused", report.refused_count],
    ["import.erased", report.erased_count], ["import.threads", report.threads], ["memories", report.memories], ["import.undated", report.undated], ["import.zoneless", report.zoneless],
  ] as const;
  const differences = useAsked(() => loadDifferences(settings.language), [settings.language]).value;
  const changed = Object.entries(report.changed).map(([what, count]) => t("cause.of_place", { place: (differences && foundFor(differences, what)) ?? what, words: wording.number(count) }));
  return (
    <Reported name={report.name} isOpen={isOpen} rows={rowsOf(report)}>
      {(report.is_cut || report.is_stopped) && <p className="notice">{t(report.is_stopped ? "import.stopped" : report.taken + report.present > 0 ? "import.cut" : "import.cut_nothing")}</p>}
      <Counts counts={counts.filter(([, count]) => count > 0)} />
      <Threads threads={report.first_threads ?? []} of={report.threads} />
      {changed.length > 0 && <ul className="complaints">{changed.map((each) => <li key={each}>{each}</li>)}</ul>}
      <Refusals rows={report.refused} of={report.refused_count} />
    </Reported>
  );
}

export function ExportTold({ name, report, isOpen }: { name: string; report: Imported; isOpen: boolean }) {
  const { t } = useAround();
  const counts = [["import.new", report.taken], ["import.refused", report.refused_count], ["import.changed", report.changed_count], ["import.erased", report.erased_count]] as const;
  const placed = ({ line, ...reason }: CodedReason & { line: number }) => ({ place: t("json.line", { line }), ...reason });
  return (
    <Reported name={name} isOpen={isOpen} rows={rowsOf(report)}>
      <Counts counts={counts} />
      <Threads threads={report.first_threads ?? []} of={report.threads ?? 0} />
      <Refusals rows={report.changed.map(placed)} of={report.changed_count} isFault={false} />
      <Refusals rows={report.refused.map(placed)} of={report.refused_count} />
    </Reported>
  );
}

/** The ways to the threads that messages were kept in, the first of them. */
function Threads({ threads, of }: { threads: NonNullable<FileReport["first_threads"]>; of: number }) {
  const { t } = useAround();
  const isAlone = of === 1;
  const shown = threads.slice(0, PLACES_SHOWN);
  if (!shown.length) return null;
  return (
    <p className="hint report-threads">
      {shown.map(({ scope, id }) => <a key={`${scope.join("/")} ${id}`} href={linkTo(["chat", id], scope)}>{isAlone ? t("import.open_thread") : <ThreadName thread={id} scope={scope} />}</a>)}
      {of > shown.length && <span>{t("import.more", { count: of - shown.length })}</span>}
    </p>
  );
}

function Counts({ counts }: { counts: readonly (readonly [Word, number])[] }) {
  const { t } = useAround();
  const wording = useWording();
  return <dl className="facts counts">{counts.map(([word, count]) => <div key={word}><dt>{t(word)}</dt><dd>{wording.number(count)}</dd></div>)}</dl>;
}

/** The service lists the first of its rows only: *of* counts all. */
function Refusals({ rows, of, isFault = true }: { rows: readonly RefusedRow[]; of: number; isFault?: boolean }) {
  const { t } = useAround();
  const all = refusalsOf(rows);
  const shown = all.slice(0, REASONS_SHOWN);
  const more = of - shown.reduce((sum, each) => sum + each.places.length, 0);
  if (!of) return null;
  return (
    <ul className="complaints">
      {shown.map((each) => <li key={each.reason} className={isFault ? "fault" : undefined}><Told refusal={each} /></li>)}
      {more > 0 && <li className="faint">{t("import.more", { count: more })}</li>}
    </ul>
  );
}

function Told({ refusal: { places, ...reason } }: { refusal: Refusal }) {
  const { t } = useAround();
  const wording = useWording();
  const shown = places.slice(0, PLACES_SHOWN).map((each) => placeOf(each, t));
  const why = whyRowRefused(reason, t);
  if (places.length === 1) return <>{t("cause.of_place", { place: shown[0] ?? "", words: why })}</>;
  const more = places.length - PLACES_SHOWN;
  return (
    <>
      <strong>{wording.number(places.length)} ×</strong> {why}
      <span className="refused-places">{shown.join(t("permission.between"))}{more > 0 && ` ${t("import.more", { count: more })}`}</span>
    </>
  );
}
