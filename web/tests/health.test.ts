import { expect, test } from "vitest";
import type { TaskHealth } from "../src/api/shapes";
import { inOrder, kindOf, taskNamed, TASKS } from "../src/lib/health";
import { enLate as en } from "../src/words/en_late";
import { zhLate as zh } from "../src/words/zh_late";

const task = (name: string, state: TaskHealth["state"] = "running"): TaskHealth => ({
  name, state, last_success: null, last_error: null, failures: state === "failing" ? 2 : 0, retry_at: null, backlog: null,
});

test("what fails is read first, then by the words of a task", () => {
  const tasks = [task("merging"), task("usage", "failing"), task("formation"), task("embedding", "failing"), task("cleaning", "stopped")];

  expect(inOrder(tasks, (name) => (name === "merging" ? "a word" : name)).map((each) => each.name)).toEqual(["embedding", "usage", "merging", "cleaning", "formation"]);
  expect(tasks[0]?.name).toBe("merging");
});

test("each task has words in both languages, and one that is new keeps its name", () => {
  for (const each of TASKS) expect(en[`health.task.${each}`] && zh[`health.task.${each}`]).toBeTruthy();
  expect(taskNamed("formation")).toBe("formation");
  expect(taskNamed("weaving")).toBeUndefined();
});

test("only a failure is shown as one", () => {
  expect((["ok", "running", "degraded", "failing", "down", "stopped"] as const).map(kindOf)).toEqual(["good", "good", "warn", "wrong", "wrong", undefined]);
});
