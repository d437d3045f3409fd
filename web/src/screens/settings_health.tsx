/** Health: how the store is, and how each background task of the process that answers does. */

import { useEffect } from "react";
import { api } from "../api/client";
import type { TaskHealth } from "../api/shapes";
import { useAsked } from "../lib/asking";
import { inOrder, kindOf, taskNamed } from "../lib/health";
import { useAround, useWording } from "../lib/session";
import { Badge, When } from "../parts/basics";
import { Failure, Loading } from "../parts/states";

const POLL_MS = 10_000;

export function HealthReport() {
  const { t } = useAround();
  const wording = useWording();
  const health = useAsked(() => api.health(), []);
  const { again } = health;
  useEffect(() => {
    const timer = setInterval(() => document.hidden || again(), POLL_MS);
    return () => clearInterval(timer);
  }, [again]);
  const { status, store, tasks } = health.value ?? {};
  return (
    <>
      <Failure error={health.error} again={again} />
      {!health.value && !health.error && <Loading rows={2} />}
      {status && (
        <p className="health-line">
          <Badge kind={kindOf(status)}>{t(`health.${status}`)}</Badge>
          {store && <span className="faint">{store.state !== "ok" || store.latency_ms === null ? t("health.store_away", { state: store.state }) : t("health.store", { ms: wording.number(store.latency_ms, 1) })}</span>}
        </p>
      )}
      {tasks && !tasks.length && <p className="faint">{t("health.none")}</p>}
      {tasks && tasks.length > 0 && <Tasks tasks={tasks} />}
    </>
  );
}

function Tasks({ tasks }: { tasks: readonly TaskHealth[] }) {
  const { t } = useAround();
  const wordOf = (name: string) => {
    const known = taskNamed(name);
    return known ? t(`health.task.${known}`) : name;
  };
  const names = ["health.task", "health.success", "health.error", "health.failures", "health.retry", "health.backlog"] as const;
  return (
    <div className="scrolled" tabIndex={0} role="region" aria-label={t("health")}>
      <table className="plain-table tasks">
        <thead><tr>{names.map((each) => <th key={each} scope="col">{t(each)}</th>)}</tr></thead>
        <tbody>{inOrder(tasks, wordOf).map((each) => <TaskRow key={each.name} task={each} word={wordOf(each.name)} />)}</tbody>
      </table>
    </div>
  );
}

function TaskRow({ task, word }: { task: TaskHealth; word: string }) {
  const { t } = useAround();
  const wording = useWording();
  const { state, last_success, last_error, failures, retry_at, backlog } = task;
  return (
    <tr>
      <th scope="row">{word} <Badge kind={kindOf(state)}>{t(`health.${state}`)}</Badge></th>
      <td>{last_success ? <When at={last_success} /> : <span className="faint">{t("health.never")}</span>}</td>
      <td>
        {last_error
          ? <><When at={last_error.at} /><p className="task-error"><code>{last_error.type}</code> {last_error.text}</p></>
          : <Blank word={t("health.no_error")} />}
      </td>
      <td>{wording.number(failures)}</td>
      <td>{retry_at ? <When at={retry_at} /> : <Blank word={t("health.no_retry")} />}</td>
      <td>{backlog === null ? <Blank word={t("health.uncounted")} /> : wording.number(backlog)}</td>
    </tr>
  );
}

/** Nothing to tell: a dash to see, a word to hear. */
function Blank({ word }: { word: string }) {
  return <span className="faint" title={word}><span aria-hidden="true">–</span><span className="unseen">{word}</span></span>;
}
