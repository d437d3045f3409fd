import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

export const SOURCE = join(import.meta.dirname, "..", "src");

/** The modules that come before any later word: what the page begins with, the overview, the talk and the list of memories. */
export function firstModules(): Set<string> {
  const found = new Set<string>();
  const walk = (module: string) => {
    const path = [`${module}.tsx`, `${module}.ts`, `${module}/index.ts`].find((each) => existsSync(join(SOURCE, each)));
    if (!path || found.has(path) || path.startsWith("words")) return;
    found.add(path);
    for (const [, to = ""] of readFileSync(join(SOURCE, path), "utf8").matchAll(/^(?:import|export) (?!type\b)[^;]*? from "(\.[^"]+)";/gm)) walk(join(module, "..", to));
  };
  for (const each of ["main", "screens/overview", "screens/chat", "screens/memories"]) walk(each);
  return found;
}
