/** Memories that somebody chose in a list. */

import type { Memory } from "../api/shapes";

export type Chosen = Pick<Memory, "scope" | "type" | "key" | "version" | "state"> & Partial<Pick<Memory, "sentence">>;

export const nameOf = ({ scope, type, key }: Pick<Memory, "scope" | "type" | "key">): string => JSON.stringify([scope, type, key]);
