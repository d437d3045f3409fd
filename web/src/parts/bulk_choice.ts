/** What is chosen of a list. What can be done to all of it comes once something is to be chosen. */

import { useCallback, useEffect, useState } from "react";
import type { Memory } from "../api/shapes";
import { nameOf, type Chosen } from "../lib/chosen";

export interface Choosing {
  isOn: boolean;
  all: ReadonlyMap<string, Chosen>;
  has: (name: string) => boolean;
  turn: (memory: Memory) => void;
  set: (memories: readonly Chosen[]) => void;
  toggle: () => void;
}

/** What is chosen in a list; where another list is shown, nothing is. */
export function useChosen(subject: string): Choosing {
  const [isOn, setOn] = useState(false);
  const [all, setAll] = useState<ReadonlyMap<string, Chosen>>(new Map());
  useEffect(() => setAll(new Map()), [subject]);
  const turn = useCallback((memory: Memory) => setAll((before) => {
    const after = new Map(before);
    if (!after.delete(nameOf(memory))) after.set(nameOf(memory), memory);
    return after;
  }), []);
  return {
    isOn, all, turn,
    has: (name) => all.has(name),
    set: (memories) => setAll(new Map(memories.map((each) => [nameOf(each), each]))),
    toggle: () => {
      setOn(!isOn);
      setAll(new Map());
    },
  };
}
