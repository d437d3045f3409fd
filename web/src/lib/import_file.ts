/** The import of one file: an export of the service record by record, any other by the service, which tells how far it is. */

import { api } from "../api/client";
import { cut, Problem, problemIn, type ToldProblem } from "../api/problem";
import type { FileProgress, FileReport } from "../api/shapes";
import type { ServerEvent } from "../api/sse";
import { exportedFrom, landingOf } from "./import_forms";
import type { Importing, ImportReport, QueuedFile } from "./import_queue";

/** The browser has the name of a file, and not what is in it: it is gone, was changed since, or may not be read. */
const unreadable = (): Problem => new Problem(400, "unreadable", "", "");
/** What was dropped is a folder. */
const isFolder = (): Problem => new Problem(400, "folder", "", "");

export const importFile: Importing = async ({ file, scope, zone }, told, signal) => {
  if (folders.has(file)) throw isFolder();
  const from = await exportedFrom(file).catch(() => Promise.reject(unreadable()));
  try {
    if (from) return { kind: "export", export: await api.importRecords(landingOf(scope, from), file, signal) };
    return { kind: "file", file: await received(api.importFile(scope, file, zone, signal), told) };
  } catch (error) {
    // A request whose body cannot be read fails as one that reaches nobody.
    if (error instanceof Problem && error.code === "unreachable" && !(await canBeRead(file))) throw unreadable();
    throw error;
  }
};

/** Whether a file's first bytes can be had. Asked of the whole: a part of a file that is gone may be read as an empty one. */
async function canBeRead(file: File): Promise<boolean> {
  const reader = file.stream().getReader();
  try {
    await reader.read();
    return true;
  } catch {
    return false;
  } finally {
    reader.cancel().catch(() => undefined);
  }
}

const folders = new WeakSet<File>();

/** The files that were dropped; a folder is one of them, and known as that. */
export function filesIn(dropped: DataTransfer): File[] {
  return [...dropped.items].filter((item) => item.kind === "file").flatMap((item) => {
    const entry = item.webkitGetAsEntry();
    const file = item.getAsFile() ?? (entry ? new File([], entry.name) : null);
    if (file && entry?.isDirectory) folders.add(file);
    return file ? [file] : [];
  });
}

/** Tell how far an import is, and return its report; an error that ends it is raised after what was kept is told. */
async function received(events: AsyncGenerator<ServerEvent>, tell: (part: Partial<QueuedFile>) => void): Promise<FileReport> {
  let report: FileReport | undefined;
  for await (const { event, data } of events) {
    const told = JSON.parse(data) as FileProgress & FileReport & ToldProblem;
    if (event === "progress") tell({ progress: told });
    if (event === "done") report = told;
    if (event === "error") {
      if (report) tell({ report: { kind: "file", file: report } satisfies ImportReport });
      throw problemIn(told, told.status ?? 0, "");
    }
  }
  if (!report) throw cut();
  return report;
}
