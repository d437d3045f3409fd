/** Export, and import of whatever the command line reads: with how far it is, and a report of what was kept. */

import { useState, type DragEvent } from "react";
import { api } from "../api/client";
import { Problem } from "../api/problem";
import type { FileProgress, FileReport, Imported } from "../api/shapes";
import { useAct } from "../lib/act";
import { exportedFrom, landingOf } from "../lib/import_forms";
import { useAround, useHere, useWording } from "../lib/session";
import { Field } from "../parts/basics";
import { Icon } from "../parts/icons";
import { ActFailure } from "../parts/states";

export function Export() {
  const { t } = useAround();
  const { scope, can } = useHere();
  const [isBelow, setBelow] = useState(false);
  const exporting = useAct();
  const download = () =>
    void exporting.run({
      request: () => api.export(scope, isBelow),
      succeed: (archive) => {
        const address = URL.createObjectURL(archive);
        const link = document.createElement("a");
        link.href = address;
        link.download = `recollect-${[...scope].join("-") || "export"}-${new Date().toISOString().slice(0, 10)}.jsonl`;
        link.click();
        setTimeout(() => URL.revokeObjectURL(address), 10_000);
      },
    });
  return (
    <>
      {can("below") && <label className="check"><input type="checkbox" checked={isBelow} onChange={(event) => setBelow(event.target.checked)} />{t("memories.below")}</label>}
      <p><button type="button" disabled={exporting.isBusy} onClick={download}>{t("export.do")}</button></p>
      <ActFailure act={exporting} />
    </>
  );
}

type Report = { kind: "file"; file: FileReport } | { kind: "export"; name: string; export: Imported };

/** Where times without a zone are from, unless the person says otherwise. */
const ownZone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone || "UTC";

export function Import() {
  const { t, tell } = useAround();
  const { scope } = useHere();
  const wording = useWording();
  const [zone, setZone] = useState(ownZone);
  const [progress, setProgress] = useState<FileProgress | null>(null);
  const [report, setReport] = useState<Report | null>(null);
  const [isOver, setOver] = useState(false);
  const act = useAct(() => setProgress(null));
  const upload = (file: File | undefined) => {
    if (!file || act.isBusy) return;
    setReport(null);
    setProgress({ rows: 0, fraction: null });
    void act.run<Report>({
      request: async () => {
        const from = await exportedFrom(file);
        if (from) return { kind: "export", name: file.name, export: await api.importRecords(landingOf(scope, from), file) };
        return { kind: "file", file: await received(scope, file, zone, setProgress, (stopped) => setReport({ kind: "file", file: stopped })) };
      },
      succeed: (found) => {
        setReport(found);
        const count = found.kind === "file" ? found.file.taken : found.export.taken;
        tell(t("import.taken", { count, total: wording.number(count) }));
      },
    });
  };
  const drop = (event: DragEvent) => {
    event.preventDefault();
    setOver(false);
    upload(event.dataTransfer.files[0]);
  };
  return (
    <>
      <div className={isOver ? "drop over" : "drop"} onDragOver={(event) => { event.preventDefault(); setOver(true); }} onDragLeave={() => setOver(false)} onDrop={drop}>
        <Icon name="upload" />
        <div className="drop-words">
          <label className="button">{t("import.do")}<input className="unseen" type="file" disabled={act.isBusy} onChange={(event) => { upload(event.target.files?.[0]); event.target.value = ""; }} /></label>
          <p className="hint">{t("import.forms")}</p>
        </div>
      </div>
      <Field label={t("import.zone")} hint={t("import.zone_about")}>{(id) => <input id={id} value={zone} disabled={act.isBusy} onChange={(event) => setZone(event.target.value)} />}</Field>
      {progress && <p className="import-progress" role="status">{progress.rows ? t("import.going", { count: progress.rows, total: wording.number(progress.rows) }) : t("import.sending")}<progress max={1} value={progress.fraction ?? undefined} aria-label={t("import")} /></p>}
      <ActFailure act={act} />
      {report && (report.kind === "file" ? <FileTold report={report.file} /> : <ExportTold name={report.name} report={report.export} />)}
    </>
  );
}

/** Import a file, and tell how far it is; an error that ends it is raised after what was kept is told. */
async function received(scope: string[], file: File, zone: string, progress: (at: FileProgress) => void, stopped: (report: FileReport) => void): Promise<FileReport> {
  let report: FileReport | undefined;
  for await (const { event, data } of api.importFile(scope, file, zone)) {
    const told = JSON.parse(data) as FileProgress & FileReport & Partial<Problem>;
    if (event === "progress") progress(told);
    if (event === "done") report = told;
    if (event === "error") {
      if (report) stopped(report);
      throw new Problem(told.status ?? 0, told.code ?? "", told.title ?? "", told.detail ?? "");
    }
  }
  if (!report) throw new Problem(0, "cut", "", "");
  return report;
}

const ROWS_SHOWN = 20;

function FileTold({ report }: { report: FileReport }) {
  const { t } = useAround();
  const wording = useWording();
  const counts = [
    ["import.rows", report.rows], ["import.new", report.taken], ["import.present", report.present], ["import.refused", report.refused_count],
    ["import.erased", report.erased_count], ["import.threads", report.threads], ["import.memories", report.memories], ["import.undated", report.undated], ["import.zoneless", report.zoneless],
  ] as const;
  return (
    <section className="report" aria-label={t("import.report")}>
      <h3>{report.name}</h3>
      {(report.is_cut || report.is_stopped) && <p className="notice">{t(report.is_stopped ? "import.stopped" : "import.cut")}</p>}
      <dl className="facts counts">{counts.filter(([, count]) => count > 0).map(([word, count]) => <div key={word}><dt>{t(word)}</dt><dd>{wording.number(count)}</dd></div>)}</dl>
      <Rows rows={[...Object.entries(report.changed).map(([what, count]) => `${what}: ${wording.number(count)}`)]} />
      <Rows rows={report.refused.map((each) => `${each.place}: ${each.reason}`)} isFault of={report.refused_count} />
    </section>
  );
}

function ExportTold({ name, report }: { name: string; report: Imported }) {
  const { t } = useAround();
  const wording = useWording();
  const counts = [["import.new", report.taken], ["import.refused", report.refused_count], ["import.changed", report.changed_count], ["import.erased", report.erased_count]] as const;
  const line = (each: { line: number; reason: string }) => `${t("json.line", { line: each.line })} ${each.reason}`;
  return (
    <section className="report" aria-label={t("import.report")}>
      <h3>{name}</h3>
      <dl className="facts counts">{counts.map(([word, count]) => <div key={word}><dt>{t(word)}</dt><dd>{wording.number(count)}</dd></div>)}</dl>
      <Rows rows={report.changed.map(line)} />
      <Rows rows={report.refused.map(line)} isFault of={report.refused_count} />
    </section>
  );
}

function Rows({ rows, isFault = false, of = rows.length }: { rows: readonly string[]; isFault?: boolean; of?: number }) {
  const { t } = useAround();
  if (!rows.length) return null;
  const more = of - Math.min(rows.length, ROWS_SHOWN);
  return (
    <ul className="complaints">
      {rows.slice(0, ROWS_SHOWN).map((each, place) => <li key={place} className={isFault ? "fault" : undefined}>{each}</li>)}
      {more > 0 && <li className="faint">{t("import.more", { count: more })}</li>}
    </ul>
  );
}
