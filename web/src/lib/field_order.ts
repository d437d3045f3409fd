/** The fields of documents in the order of the schema of their type: each change writes them in another one. */

import type { MemoryType } from "../api/shapes";

let schemas: readonly (readonly string[])[] = [];

/** Take the order of fields from the types of the scope. */
export function noteTypes(types: readonly Pick<MemoryType, "parameters">[]): void {
  schemas = types.map(({ parameters }) => Object.keys(parameters.properties ?? {}));
}

/** Fields by name, in the order of the first schema that has all of them; without one as they are. */
export function inOrder<F extends readonly [string, unknown]>(fields: readonly F[]): F[] {
  const schema = schemas.find((names) => fields.every(([name]) => names.includes(name)));
  return schema ? [...fields].sort(([one], [other]) => schema.indexOf(one) - schema.indexOf(other)) : [...fields];
}
