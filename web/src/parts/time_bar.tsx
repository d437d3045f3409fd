/** The day on which a screen looks: one slider, for what was true or for what was believed. */

import { useEffect, useState } from "react";
import { useLater } from "../lib/asking";
import { dayAt, dayOf, stepsBetween } from "../lib/days";
import { useAround, useWording } from "../lib/session";
import { isToday, type Days } from "../lib/time";
import { DayInput } from "./day_input";
import { Icon } from "./icons";

const WAIT_MS = 120;
const MODES = ["on", "known"] as const;
type Mode = (typeof MODES)[number];

/** `first` is the earliest day that anything is known of; a change is told a moment after the slider rests. */
export function TimeBar({ first, days, change }: { first: string; days: Days; change: (days: Partial<Days>) => void }) {
  const { t } = useAround();
  const wording = useWording();
  const [mode, setMode] = useState<Mode>(days.known && !days.on ? "known" : "on");
  // A link to another day shows that day, not the one that this button left at today.
  useEffect(() => { if (days.on && !days.known) setMode("on"); }, [days.on]);
  useEffect(() => { if (days.known && !days.on) setMode("known"); }, [days.known]);
  const said = (day: string) => (day ? wording.day(day) : t("profile.today"));
  return (
    <div className={isToday(days) ? "time-bar" : "time-bar past"} role="group" aria-label={t("time")}>
      <div className="time-modes">
        <Icon name="time" />
        {MODES.map((each) => (
          <button key={each} type="button" className="plain time-mode" aria-pressed={mode === each} onClick={() => setMode(each)} title={t(`time.${each}_about`)}>
            {t(`time.${each}`)} <strong>{said(days[each])}</strong>
          </button>
        ))}
        {!isToday(days) && <button type="button" className="small time-back" onClick={() => change({ on: "", known: "" })}>{t("time.back")}</button>}
      </div>
      <DaySlider key={`${mode} ${first}`} id={mode === "on" ? "true-on" : "believed-on"} label={t(`time.${mode}`)} first={first} day={days[mode]} change={(day) => change({ [mode]: day })} />
    </div>
  );
}

function DaySlider({ id, label, first, day, change }: { id: string; label: string; first: string; day: string; change: (day: string) => void }) {
  const { t } = useAround();
  const wording = useWording();
  const today = dayOf(Date.now());
  const steps = stepsBetween(first, today);
  const given = !day ? steps : Math.min(steps, Math.max(0, Math.round((Date.parse(day) - Date.parse(first)) / 86_400_000)));
  // The slider follows the address, unless somebody moves it: only that, once it rests, changes the day.
  const [moved, setMoved] = useState<{ step: number; from: number }>();
  const step = moved?.from === given ? moved.step : given;
  const rested = useLater(moved, WAIT_MS);
  useEffect(() => setMoved(undefined), [given]);
  useEffect(() => {
    if (rested?.from !== given) return;
    const chosen = rested.step >= steps ? "" : dayAt(first, rested.step);
    if (chosen !== day) change(chosen);
  }, [rested]);
  const text = step >= steps ? t("profile.today") : wording.day(dayAt(first, step));
  return (
    <div className="time-slider">
      <span className="time-end">{wording.day(first)}</span>
      <input id={id} type="range" aria-label={label} min={0} max={steps} value={Math.min(step, steps)} aria-valuetext={text} onChange={(event) => setMoved({ step: Number(event.target.value), from: given })} />
      <DayInput aria-label={label} min={first} max={today} value={step >= steps ? "" : dayAt(first, step)} onChange={(event) => change(event.target.value >= today ? "" : event.target.value)} />
    </div>
  );
}
