/** The worker's side of `graph_layout.ts`: one request, one answer. */

import { laidOut, type LayoutRequest } from "./graph_layout";

self.onmessage = ({ data }: MessageEvent<LayoutRequest>) => self.postMessage(laidOut(data));
