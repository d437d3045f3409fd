/** Rows of a list that have the same name. */

/** The ids of those whose title another one has, too: what they are called does not tell them apart. */
export function sameTitled(rows: readonly { id: string; title: string }[]): ReadonlySet<string> {
  const counts = new Map<string, number>();
  for (const { title } of rows) counts.set(title, (counts.get(title) ?? 0) + 1);
  return new Set(rows.filter(({ title }) => (counts.get(title) ?? 0) > 1).map(({ id }) => id));
}
