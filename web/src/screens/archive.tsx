/** Export, and import of whatever the command line reads: with how far each file is, a way to stop it and to go on, and a report. */

import { useEffect, useRef, useState, type DragEvent } from "react";
import { api } from "../api/client";
import type { FileProgress } from "../api/shapes";
import { useAct } from "../lib/act";
import { filesIn, importFile } from "../lib/import_file";
import { canGoOn, ImportQueue, isImported, rowsOfAll, useQueue, type Drained, type QueuedFile } from "../lib/import_queue";
import { useAround, useHere, useWording } from "../lib/session";
import { Field } from "../parts/basics";
import { Icon } from "../parts/icons";
import { ActFailure, Failure } from "../parts/states";
import { ExportTold, FileTold, useCountsSaid } from "./archive_report";

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
        <button type="button" disabled={exporting.isBusy} onClick={download}>{t("export")}</button>
        <span className="hint" role="status">{exporting.isBusy && t("export.going")}</span>
      </p>
      <ActFailure act={exporting} />
    </>
  );
}

/** Where times without a zone are from, unless the person says otherwise. */
const ownZone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone || "UTC";

const queue = new ImportQueue(importFile);

export function Import() {
  const { t, tell, complain } = useAround();
  const { scope } = useHere();
  const said = useCountsSaid();
  const [zone, setZone] = useState(ownZone);
  const [isOver, setOver] = useState(false);
  const input = useRef<HTMLInputElement>(null);
  const files = useQueue(queue).filter((each) => String(each.scope) === String(scope));
  useNoNavigation();
  const settled = ({ reports, errors, failed }: Drained) => {
    const not = failed.length ? [t("import.not_imported", { count: failed.length, names: failed.join(t("permission.between")) })] : [];
    if (reports.length) tell([said(rowsOfAll(reports)), ...not].join(t("cause.between")));
    // Where it is told among the files may be below what is in sight; with others that were taken, the notice names it.
    if (errors.length && (!reports.length || !input.current)) complain(errors[0]);
  };
  const upload = (chosen: readonly File[]) => {
    if (chosen.length) void queue.add(scope, zone, chosen, settled);
    // So that the same file can be chosen again, also one that was refused and has been mended.
    if (input.current) input.current.value = "";
  };
  const drop = (event: DragEvent) => {
    event.preventDefault();
    setOver(false);
    upload(filesIn(event.dataTransfer));
  };
  return (
    <>
      <div className={isOver ? "drop over" : "drop"} onDragOver={(event) => { event.preventDefault(); setOver(true); }} onDragLeave={() => setOver(false)} onDrop={drop}>
        <Icon name="upload" />
        <div className="drop-words">
          <label className="button">{t("import.do")}<input ref={input} className="unseen" type="file" multiple onChange={(event) => upload([...(event.target.files ?? [])])} /></label>
          <p className="hint">{t("import.forms")}</p>
        </div>
      </div>
      <Field label={t("import.zone")} hint={t("import.zone_about")}>{(id) => <input id={id} value={zone} onChange={(event) => setZone(event.target.value)} />}</Field>
      {files.length > 1 && <AllFiles files={files} goOn={(ids) => void queue.resume(ids, settled)} />}
      {files.map((each, place) => <OneFile key={each.id} file={each} isOpen={place === 0 && each.isAlone} goOn={() => void queue.resume([each.id], settled)} />)}
    </>
  );
}

/** A file that is dropped beside the place for it would be shown in the place of the page. */
function useNoNavigation(): void {
  useEffect(() => {
    const prevent = (event: Event) => event.preventDefault();
    const names = ["dragover", "drop"] as const;
    for (const each of names) addEventListener(each, prevent);
    return () => {
      for (const each of names) removeEventListener(each, prevent);
    };
  }, []);
}

/** How far several files are, and what is done with all of them. */
function AllFiles({ files, goOn }: { files: readonly QueuedFile[]; goOn: (ids: number[]) => void }) {
  const { t } = useAround();
  const isGoing = files.some((each) => each.state === "going" || each.state === "waiting");
  const resumable = files.filter(canGoOn).map((each) => each.id);
  const over = files.filter((each) => each.state === "done" || each.state === "failed" || each.state === "stopped").length;
  return (
    <div className="import-all">
      <span role="status">{t(isGoing ? "import.files_going" : "import.files_done", { done: isGoing ? over : files.filter(isImported).length, count: files.length })}</span>
      {isGoing && <button type="button" className="small" onClick={() => queue.stopAll()}>{t("import.stop_all")}</button>}
      {!isGoing && resumable.length > 1 && <button type="button" className="small" onClick={() => goOn(resumable)}>{t("import.resume_all")}</button>}
    </div>
  );
}

/** One file: how far it is and what can be done with it, or what came of it. */
function OneFile({ file: entry, isOpen, goOn }: { file: QueuedFile; isOpen: boolean; goOn: () => void }) {
  const { t } = useAround();
  const { file, state, progress, report, error, isPartial } = entry;
  const isUnderWay = state === "going" || state === "waiting";
  return (
    <>
      {state !== "done" && (
        <section className="import-state" aria-label={t("import.of", { name: file.name })}>
          <div className="import-head">
            <h3>{file.name}</h3>
            {/* One button, so that who stops a file has the focus where they go on with it. */}
            {(isUnderWay || state === "stopped") && <button type="button" className="small" onClick={() => (isUnderWay ? queue.stop(entry.id) : goOn())}>{t(isUnderWay ? "chat.stop" : "import.resume")}</button>}
          </div>
          {state === "waiting" && <p className="hint">{t("import.waits")}</p>}
          {state === "going" && <Progress name={file.name} at={progress} />}
          {state === "failed" && (
            <div className="act-failure">
              <Failure error={error} again={canGoOn(entry) ? goOn : undefined} isOfAct />
              <button type="button" className="plain icon-button" aria-label={t("close")} onClick={() => queue.drop(entry.id)}><Icon name="close" /></button>
            </div>
          )}
          {isPartial && <p className="notice" role="status">{t("import.stopped")}</p>}
          {state === "stopped" && !isPartial && !report && <p className="hint" role="status">{t("import.not_begun")}</p>}
        </section>
      )}
      {report && (report.kind === "file" ? <FileTold report={report.file} isOpen={isOpen} /> : <ExportTold name={file.name} report={report.export} isOpen={isOpen} />)}
    </>
  );
}

function Progress({ name, at }: { name: string; at: FileProgress }) {
  const { t } = useAround();
  const wording = useWording();
  // A document that is read whole before its rows are taken is at its end from the beginning: then nothing is known.
  const share = at.fraction === null || at.fraction >= 1 ? undefined : at.fraction;
  return (
    <div className="import-progress">
      <span role="status">{at.rows ? t("import.going", { count: at.rows, total: wording.number(at.rows) }) : t("import.sending")}</span>
      <progress max={1} value={share} aria-label={t("import.of", { name })} />
    </div>
  );
}
