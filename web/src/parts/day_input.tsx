/** A field for a day. A browser writes the day in its own language: where the page is in another one, that is said beside it. */

import type { ComponentProps } from "react";
import { LANGUAGES } from "../words";
import { useAround, useWording } from "../lib/session";

/** How a language writes days, by one that tells their parts apart. */
const formOf = (locale: string | undefined): string => new Intl.DateTimeFormat(locale, { dateStyle: "short", timeZone: "UTC" }).format(Date.UTC(2033, 10, 22));

export function DayInput({ value, ...others }: Omit<ComponentProps<"input">, "type"> & { value: string }) {
  const { settings } = useAround();
  const wording = useWording();
  const { tag, locale } = LANGUAGES[settings.language];
  const isOther = formOf(navigator.language) !== formOf(locale);
  return (
    <span className="day-input">
      <input {...others} type="date" lang={tag} value={value} className={isOther && !value ? "day-unset" : undefined} />
      {isOther && value && <span className="hint" aria-hidden="true">{wording.day(value)}</span>}
    </span>
  );
}
