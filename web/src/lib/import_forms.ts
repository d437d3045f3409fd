/** Which files are exports of the service's own: they are put back record by record, to the scopes that they name. */

const HEAD_BYTES = 64_000;

/** The scope that a record of an export names, null for a line that is no such record. */
export function scopeIn(line: string): string[] | null {
  try {
    const record = JSON.parse(line) as unknown;
    if (record === null || typeof record !== "object" || !("kind" in record)) return null;
    if ("scope" in record && Array.isArray(record.scope)) return record.scope.map(String);
    return record.kind === "export" ? [] : null;
  } catch {
    // A record that is longer than the part that is looked at.
    const found = /^\{"kind": "\w+", "scope": (\[[^\]]*\])/.exec(line);
    return found?.[1] ? (JSON.parse(found[1]) as string[]) : null;
  }
}

/** The scope that the first record of an export names, null if the file is none. */
export async function exportedFrom(file: Blob): Promise<string[] | null> {
  const head = await file.slice(0, HEAD_BYTES).text();
  return scopeIn(head.split("\n").find((each) => each.trim()) ?? "");
}

/** Below which scope an export is put back: that of this key if it is of the scope looked at, or else here, as a copy. */
export const landingOf = (here: readonly string[], from: readonly string[]): string[] => (here.every((each, at) => each === from[at]) ? [] : [...here]);
