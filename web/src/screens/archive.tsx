/** Export, and import of whatever the command line reads: with how far it is, a way to stop it, and a report. */

import { useRef, useState, type DragEvent } from "react";
import { api } from "../api/client";
import { cut, mayBeDone, Problem } from "../api/problem";
import type { FileProgress, FileReport, Imported } from "../api/shapes";
import type { ServerEvent } from "../api/sse";
import { useAct } from "../lib/act";
import { exportedFrom, landingOf } from "../lib/import_forms";
import { whyRefused } from "../lib/refusals";
import { useAround, useHere, useWording } from "../lib/session";
import { Field } from "../parts/basics";
import { Icon } from "../parts/icons";
import { ActFailure } from "../parts/states";
import { ExportTold, FileTold } from "./archive_report";

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
      <p className="export-do">
        <button type="button" disabled={exporting.isBusy} onClick={download}>{t("export.do")}</button>
        <span className="hint" role="status">{exporting.isBusy && t("export.going")}</span>
      </p>
      <ActFailure act={exporting} />
    </>
  );
}

type Report = { kind: "file"; file: FileReport } | { kind: "export"; name: string; export: Imported };

/** Where times without a zone are from, unless the person says otherwise. */
const ownZone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone || "UTC";

const BEGUN: FileProgress = { rows: 0, fraction: null };

export function Import() {
  const { t, tell } = useAround();
  const { scope } = useHere();
  const wording = useWording();
  const [zone, setZone] = useState(ownZone);
  const [progress, setProgress] = useState<FileProgress | null>(null);
  const [report, setReport] = useState<Report | null>(null);
  const [name, setName] = useState("");
  /** Whether it ended without a report, when some rows may have been taken. */
  const [isPartial, setPartial] = useState(false);
  const [isOver, setOver] = useState(false);
  const input = useRef<HTMLInputElement>(null);
  const underWay = useRef<AbortController>(null);
  const act = useAct(() => setProgress(null));
  const imported = async (file: File): Promise<Report | null> => {
    const stopping = new AbortController();
    underWay.current = stopping;
    setName(file.name);
    setReport(null);
    setPartial(false);
    setProgress(BEGUN);
    let isTold = false;
    const stopped = (soFar: FileReport) => {
      isTold = true;
      setReport({ kind: "file", file: soFar });
    };
    try {
      const from = await exportedFrom(file);
      if (from) return { kind: "export", name: file.name, export: await api.importRecords(landingOf(scope, from), file, stopping.signal) };
      return { kind: "file", file: await received(api.importFile(scope, file, zone, stopping.signal), setProgress, stopped) };
    } catch (error) {
      setPartial(!isTold && mayBeDone(error) && !(error instanceof Problem && error.code === "unreachable"));
      if (!stopping.signal.aborted) throw error instanceof Problem ? new Problem(error.status, error.code, error.title, whyRefused(error.detail, t)) : error;
      // Once it is enabled again: the button that had the focus is gone.
      setTimeout(() => input.current?.focus());
      return null;
    }
  };
  const upload = (file: File | undefined) => {
    // So that the same file can be chosen again, also one that was refused and has been mended.
    if (input.current) input.current.value = "";
    if (!file || act.isBusy) return;
    act.dismiss();
    void act.run<Report>({
      request: () => imported(file),
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
          <label className="button">{t("import.do")}<input ref={input} className="unseen" type="file" disabled={act.isBusy} onChange={(event) => upload(event.target.files?.[0])} /></label>
          <p className="hint">{t("import.forms")}</p>
        </div>
      </div>
      <Field label={t("import.zone")} hint={t("import.zone_about")}>{(id) => <input id={id} value={zone} disabled={act.isBusy} onChange={(event) => setZone(event.target.value)} />}</Field>
      {(progress || isPartial || Boolean(act.error)) && (
        <section className="import-state" aria-label={t("import")}>
          <h3>{name}</h3>
          {progress && <Progress at={progress} stop={() => underWay.current?.abort()} />}
          <ActFailure act={act} />
          {isPartial && <p className="notice" role="status">{t("import.stopped")}</p>}
        </section>
      )}
      {report && (report.kind === "file" ? <FileTold report={report.file} /> : <ExportTold name={report.name} report={report.export} />)}
    </>
  );
}

function Progress({ at, stop }: { at: FileProgress; stop: () => void }) {
  const { t } = useAround();
  const wording = useWording();
  // A document that is read whole before its rows are taken is at its end from the beginning: then nothing is known.
  const share = at.fraction === null || at.fraction >= 1 ? undefined : at.fraction;
  return (
    <div className="import-progress">
      <span role="status">{at.rows ? t("import.going", { count: at.rows, total: wording.number(at.rows) }) : t("import.sending")}</span>
      <progress max={1} value={share} aria-label={t("import")} />
      <button type="button" className="small" onClick={stop}>{t("chat.stop")}</button>
    </div>
  );
}

/** Tell how far an import is, and return its report; an error that ends it is raised after what was kept is told. */
async function received(events: AsyncGenerator<ServerEvent>, progress: (at: FileProgress) => void, stopped: (report: FileReport) => void): Promise<FileReport> {
  let report: FileReport | undefined;
  for await (const { event, data } of events) {
    const told = JSON.parse(data) as FileProgress & FileReport & Partial<Problem>;
    if (event === "progress") progress(told);
    if (event === "done") report = told;
    if (event === "error") {
      if (report) stopped(report);
      throw new Problem(told.status ?? 0, told.code ?? "", told.title ?? "", told.detail ?? "");
    }
  }
  if (!report) throw cut();
  return report;
}
