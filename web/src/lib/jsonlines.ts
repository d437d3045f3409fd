/** Where something stands in JSON that a person types: the line of a fault, the line of a pointer. */

import { stepsOf } from "./pointer";

export interface Fault {
  line: number;
  message: string;
}

/** The first syntax fault, or none. */
export function faultOf(text: string): Fault | null {
  try {
    JSON.parse(text);
    return null;
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const line = /line (\d+)/.exec(message);
    const position = /position (\d+)/.exec(message);
    if (line) return { line: Number(line[1]), message };
    const end = position ? Number(position[1]) : text.trimEnd().length;
    return { line: text.slice(0, end).split("\n").length, message };
  }
}

/** The line where the last name of a pointer stands, as well as text alone can tell. */
export function lineOf(text: string, pointer: string): number | null {
  let at = 0;
  for (const step of stepsOf(pointer)) {
    if (/^\d+$/.test(step)) continue;
    const next = text.indexOf(`${JSON.stringify(step)}`, at);
    if (next < 0) break;
    at = next;
  }
  return at ? text.slice(0, at).split("\n").length : null;
}
