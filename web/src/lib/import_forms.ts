/** Which files are exports of the service's own: they are put back record by record, to the scopes that they name. */

const HEAD_BYTES = 64_000;

/** Whether the first line of a text is a record of an export. */
export function isRecord(line: string): boolean {
  try {
    const record = JSON.parse(line) as unknown;
    if (record === null || typeof record !== "object" || !("kind" in record)) return false;
    return "scope" in record || record.kind === "export";
  } catch {
    // A record that is longer than the part that is looked at.
    return /^\{"(?:kind": "\w+", "scope"|scope": \[)/.test(line);
  }
}

export async function isExport(file: Blob): Promise<boolean> {
  const head = await file.slice(0, HEAD_BYTES).text();
  return isRecord(head.split("\n").find((each) => each.trim()) ?? "");
}
