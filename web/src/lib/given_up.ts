/** Messages that no formation will read unless somebody asks to try them again: their thread counts them as formed. */

import type { Formation } from "../api/shapes";

/** Whether a formation gave up messages that nobody asked to try again since; those of a thread, where one is named. What was erased is in none. */
export const gaveUp = ({ status, failed }: Pick<Formation, "status" | "failed">, thread?: string): boolean =>
  status === "dead" && (thread === undefined ? Object.keys(failed).length > 0 : thread in failed);
