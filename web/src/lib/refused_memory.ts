/** A refusal that names a memory by its address: people know it by what it says. */

import { Problem } from "../api/problem";
import type { Memory, Scope } from "../api/shapes";
import { linkTo } from "./route";

type Named = (address: Pick<Memory, "type" | "key">) => Promise<string | undefined>;

/** The address of a conflict, without the scope that the service may name after it. */
const addressed = (address: string | number | undefined): string => String(address ?? "").replace(/ in [^ ]*$/u, "");

/** The refusal with what the memory says, and the way to the message that stands in the way, or to the memory; any other failure as it is. */
export async function refusedInWords(error: unknown, scope: Scope, saidOf: Named): Promise<unknown> {
  if (!(error instanceof Problem)) return error;
  const { status, code, title, detail, reason } = error;
  const isConflict = reason.code === "version_conflict";
  const [type = "", ...rest] = String(reason.values.memory ?? addressed(reason.values.address)).split("/");
  const key = rest.join("/");
  const said = key && (await saidOf({ type, key }).catch(() => undefined));
  if (!said) return error;
  const { thread, message } = reason.values;
  const href = thread && message ? linkTo(["chat", String(thread)], scope, { message: String(message) }) : linkTo(["memories", type, key], scope);
  return new Problem(status, code, title, detail, { code: isConflict ? "version_conflict_of" : reason.code, values: { ...reason.values, memory: `“${said}”` } }, href);
}
