/** Where the rows of a long list stand: one below the other, each as high as it was measured, or as most are. */

/** The upper edge of each row, from that of the list, in pixels; the last is the lower edge of the list. */
export function edgesOf(count: number, usual_px: number, measured: ReadonlyMap<number, number>): Float64Array {
  const edges = new Float64Array(count + 1);
  for (const [place, px] of measured) if (place < count) edges[place + 1] = px - usual_px;
  for (let place = 0; place < count; place += 1) edges[place + 1] = (edges[place + 1] as number) + (edges[place] as number) + usual_px;
  return edges;
}

/** The row at a distance from the upper edge of the list; above it the first, below it the last. */
export function placeAt(edges: Float64Array, px: number): number {
  let low = 0;
  let high = Math.max(0, edges.length - 2);
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((edges[middle] as number) <= px) low = middle;
    else high = middle - 1;
  }
  return low;
}
