/** A field for a day. A browser writes the day as its own menus do, whatever the page's language: so the page says it beside. */

import type { ComponentProps } from "react";
import { useAround, useWording } from "../lib/session";
import { LANGUAGES } from "../words";

export function DayInput({ value, ...others }: Omit<ComponentProps<"input">, "type"> & { value: string }) {
  const { settings } = useAround();
  const wording = useWording();
  return (
    <span className="day-input">
      <input {...others} type="date" lang={LANGUAGES[settings.language].tag} value={value} className={value ? undefined : "day-unset"} />
      {value && <span className="hint" aria-hidden="true">{wording.day(value)}</span>}
    </span>
  );
}
