/** The files that are imported, one after another. It outlives the screen: who comes back to that finds them. */

import { useSyncExternalStore } from "react";
import { canPass, mayBeDone, Problem } from "../api/problem";
import type { FileProgress, FileReport, Imported, Scope } from "../api/shapes";

export type ImportReport = { kind: "file"; file: FileReport } | { kind: "export"; export: Imported };

export interface QueuedFile {
  readonly id: number;
  readonly scope: Scope;
  readonly zone: string;
  readonly file: File;
  /** It was chosen with no other. */
  readonly isAlone: boolean;
  state: "waiting" | "going" | "done" | "stopped" | "failed";
  progress: FileProgress;
  report: ImportReport | null;
  error: unknown;
  /** It ended without a report, when some rows may have been taken. */
  isPartial: boolean;
}

/** How a file is imported: progress and what was kept before an error are told on the way. */
export type Importing = (file: QueuedFile, told: (part: Partial<QueuedFile>) => void, signal: AbortSignal) => Promise<ImportReport>;

/** What came of the files since the queue was empty last. */
export interface Drained {
  reports: ImportReport[];
  errors: unknown[];
  /** The names of the files that were not imported. */
  failed: string[];
}

const nothingYet = (): Drained => ({ reports: [], errors: [], failed: [] });

const REPORTS_MAX = 8;
const BEGUN: FileProgress = { rows: 0, fraction: null };

/** Whether a file that ended so can be imported again as it is, and go well. */
export const canGoOn = ({ state, error }: QueuedFile): boolean => state === "stopped" || (state === "failed" && canPass(error));

export class ImportQueue {
  private entries: readonly QueuedFile[] = [];
  private readonly listeners = new Set<() => void>();
  private stopping: AbortController | null = null;
  private drained: Drained = nothingYet();
  private next = 1;

  constructor(private readonly importing: Importing) {}

  /** Take files in; `settled` is called once none waits any more. */
  async add(scope: Scope, zone: string, files: readonly File[], settled: (drained: Drained) => void): Promise<void> {
    const isSame = (one: QueuedFile, other: File) => one.file.name === other.name && String(one.scope) === String(scope);
    // The last reports stay; what was refused makes room; what can still go on stays. What is chosen anew replaces the former.
    const told = this.entries.filter((each) => each.report).slice(0, REPORTS_MAX);
    const kept = this.entries.filter((each) => isUnderWay(each) || (this.isBusy || told.includes(each) ? true : canGoOn(each)) && !files.some((file) => isSame(each, file)));
    const added = files.map((file): QueuedFile => ({ id: this.next++, scope, zone, file, isAlone: files.length === 1, state: "waiting", progress: BEGUN, report: null, error: null, isPartial: false }));
    // What was chosen last stands first; the order of import goes by `id`.
    this.write([...added, ...kept]);
    await this.run(settled);
  }

  /** Stop a file that is imported or waits; the next goes on. */
  stop(id: number): void {
    const entry = this.entries.find((each) => each.id === id);
    if (entry?.state === "going") this.stopping?.abort();
    if (entry?.state === "waiting") this.change(id, { state: "stopped" });
  }

  /** Forget a file that has ended. */
  drop(id: number): void {
    this.write(this.entries.filter((each) => each.id !== id || isUnderWay(each)));
  }

  stopAll(): void {
    for (const each of this.entries) if (each.state === "waiting") this.change(each.id, { state: "stopped" });
    this.stopping?.abort();
  }

  /** Go on with files that stopped or failed. */
  async resume(ids: readonly number[], settled: (drained: Drained) => void): Promise<void> {
    for (const each of this.entries) if (ids.includes(each.id) && canGoOn(each)) this.change(each.id, { state: "waiting", progress: BEGUN, report: null, error: null, isPartial: false });
    await this.run(settled);
  }

  all = (): readonly QueuedFile[] => this.entries;

  subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  private get isBusy(): boolean {
    return this.stopping !== null;
  }

  private async run(settled: (drained: Drained) => void): Promise<void> {
    if (this.isBusy) return;
    for (let entry = this.waiting(); entry; entry = this.waiting()) {
      this.stopping = new AbortController();
      await this.import(entry, this.stopping.signal);
    }
    this.stopping = null;
    const { drained } = this;
    this.drained = nothingYet();
    settled(drained);
  }

  private waiting(): QueuedFile | undefined {
    return this.entries.filter((each) => each.state === "waiting").sort((one, other) => one.id - other.id)[0];
  }

  private async import(entry: QueuedFile, signal: AbortSignal): Promise<void> {
    const { id } = entry;
    this.change(id, { state: "going" });
    try {
      const report = await this.importing(entry, (part) => this.change(id, part), signal);
      this.drained.reports.push(report);
      this.change(id, { state: "done", report });
    } catch (error) {
      const isTold = this.entries.find((each) => each.id === id)?.report !== null;
      const isPartial = !isTold && mayBeDone(error) && !(error instanceof Problem && error.code === "unreachable");
      if (signal.aborted) return this.change(id, { state: "stopped", isPartial });
      this.drained.errors.push(error);
      this.drained.failed.push(entry.file.name);
      this.change(id, { state: "failed", error, isPartial });
      // The service is away: the others would fail of the same, and go on together once it is back.
      if (canPass(error)) for (const each of this.entries) if (each.state === "waiting") this.change(each.id, { state: "stopped" });
    }
  }

  private change(id: number, part: Partial<QueuedFile>): void {
    this.write(this.entries.map((each) => (each.id === id ? { ...each, ...part } : each)));
  }

  private write(entries: readonly QueuedFile[]): void {
    this.entries = entries;
    for (const each of this.listeners) each();
  }
}

const isUnderWay = ({ state }: QueuedFile): boolean => state === "waiting" || state === "going";

export const useQueue = (queue: ImportQueue): readonly QueuedFile[] => useSyncExternalStore(queue.subscribe, queue.all);

export interface RowCounts {
  taken: number;
  present: number;
  refused: number;
}

/** How many rows a report tells of as new, as there already, and as refused; an export of the service is not counted by what was there. */
export const rowsOf = ({ taken, refused_count: refused, ...report }: FileReport | Imported): RowCounts => ({ taken, present: "present" in report ? report.present : 0, refused });

/** Whether something came of a file: one of which every row was refused was read, and not imported. */
export function isImported({ state, report }: Pick<QueuedFile, "state" | "report">): boolean {
  if (state !== "done" || !report) return false;
  const { taken, present, refused } = rowsOfAll([report]);
  return taken + present > 0 || refused === 0;
}

/** The rows of several files together. */
export const rowsOfAll = (reports: readonly ImportReport[]): RowCounts =>
  reports.map((each) => rowsOf(each.kind === "file" ? each.file : each.export)).reduce((sum, each) => ({ taken: sum.taken + each.taken, present: sum.present + each.present, refused: sum.refused + each.refused }), { taken: 0, present: 0, refused: 0 });

type CountSaid = "import.taken" | "import.nothing_new" | "import.there" | "import.rows_refused";

/** What became of rows, as words with counts: nothing new is said, and so is what was there already or refused. */
export function countsSaid({ taken, present, refused }: RowCounts): [CountSaid, number][] {
  const counts: [CountSaid, number][] = [[taken ? "import.taken" : "import.nothing_new", taken], ["import.there", present], ["import.rows_refused", refused]];
  return counts.filter(([word, count]) => count > 0 || word === "import.nothing_new");
}
