/** How documents of a type are told apart in a menu. */

import type { Memory } from "../api/shapes";
import { speakerOf } from "./past";
import { shortened } from "./sentences";

/** The type, and of whom or what it is where it has several; a key says that to nobody. */
export function titleOfChoice({ type, key, sentence = "" }: Pick<Memory, "type" | "key"> & { sentence?: string }, named: (name: string) => string): string {
  const about = speakerOf({ key }) ?? (type === key ? "" : shortened(sentence));
  return [named(type), about].filter(Boolean).join(" · ");
}
