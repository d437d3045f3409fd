/** A day on a slider, from the first that is known of to today. */

import { useEffect, useState } from "react";
import { dayAt, dayOf, stepsBetween } from "../lib/days";
import { useLater } from "../lib/asking";
import { useAround, useWording } from "../lib/session";
import { Icon } from "./icons";

const WAIT_MS = 120;

/** `day` is "" for today; a change is told a moment after the slider rests. */
export function DaySlider({ first, day, change }: { first: string; day: string; change: (day: string) => void }) {
  const { t } = useAround();
  const wording = useWording();
  const today = dayOf(Date.now());
  const steps = stepsBetween(first, today);
  const given = day ? Math.min(steps, Math.max(0, stepsBetween(first, day))) : steps;
  const [step, setStep] = useState(day === first ? 0 : given);
  const rested = useLater(step, WAIT_MS);
  useEffect(() => setStep(day === first ? 0 : given), [first]);
  useEffect(() => {
    const chosen = rested >= steps ? "" : dayAt(first, rested);
    if (chosen !== day) change(chosen);
  }, [rested]);
  const label = step >= steps ? t("profile.today") : wording.day(dayAt(first, step));
  return (
    <div className="day-slider">
      <label htmlFor="true-on"><Icon name="time" />{t("memories.true_on")} <strong>{label}</strong></label>
      <input id="true-on" type="range" min={0} max={steps} value={Math.min(step, steps)} aria-valuetext={label} onChange={(event) => setStep(Number(event.target.value))} />
      <div className="slider-ends"><span>{wording.day(first)}</span><span>{t("profile.today")}</span></div>
    </div>
  );
}
