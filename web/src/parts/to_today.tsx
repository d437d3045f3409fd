/** The way back to today, from another day that all screens look at. */

import { go, linkHere } from "../lib/route";
import { useAround } from "../lib/session";

/** Leads back to today, on whichever screen. */
export function ToToday() {
  const { t } = useAround();
  return <button type="button" onClick={() => go(linkHere({ on: "", known: "" }), true)}>{t("time.back")}</button>;
}
