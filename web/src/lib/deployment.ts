/** Why a script of the page cannot be had: the service is away, has another page by now, or lacks this one file. */

export type Cause = "unreachable" | "renewed" | "refused";

const ENTRY = /assets\/[\w-]+\.js/g;

/** The cause, as what the service answers for the page itself tells; null if it did not answer. */
export function causeOf(answered: string | null, own: string): Cause {
  if (answered === null) return "unreachable";
  const named = answered.match(ENTRY) ?? [];
  return !named.length || named.some((each) => own.endsWith(each)) ? "refused" : "renewed";
}

export async function missingBecause(): Promise<Cause> {
  const own = document.querySelector<HTMLScriptElement>("script[type=module][src]")?.src ?? "";
  try {
    const response = await fetch(new URL(".", document.baseURI), { cache: "no-store", credentials: "omit" });
    return causeOf(response.ok ? await response.text() : null, own);
  } catch {
    return "unreachable";
  }
}
