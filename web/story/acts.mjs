/** Each act of the page over a bad network: node acts.mjs ADDRESS FOLDER CHROMIUM. Facts go to standard output. */

import { openBrowser, watched } from "./browser.mjs";
import { audited, told } from "./chapters.mjs";
import { Facts } from "./facts.mjs";
import { openProxy } from "./proxy.mjs";

const [service, folder, chromium] = process.argv.slice(2);
const facts = new Facts(folder);
const proxy = await openProxy(service);
const base = proxy.address;
const { browser, close } = await openBrowser(chromium);
const { page, noted } = await watched(browser, base);

const button = (name, within = page) => within.getByRole("button", { name, exact: true });
const main = page.locator("main");
const dialog = page.locator("dialog");
const toast = (text) => page.locator(".toast", { hasText: text }).last();
const asked = async (path) => {
  const answer = await page.request.get(`${service}/v1/${path}`);
  return answer.ok() ? answer.json() : null;
};
const versionOf = async (address) => (await asked(`memories/${address}`))?.version ?? null;
const at = async (place, ready) => {
  await page.goto(`${base}/#/${place}`);
  await page.locator(ready).filter({ visible: true }).first().waitFor();
};

/**
 * Do something while its request fails, look at what is told where it was done, and do it again from there.
 *
 * With `how` refuse the service hears nothing of it. With lose it does it, its answer does not arrive, and what came of
 * it cannot be read; with find it can be, so that there is nothing to do again.
 */
async function twice(name, { path, method = "POST", how = "refuse", near, act, done, typed, version }) {
  const before = version ? await versionOf(version) : null;
  const isIt = (request) => request.method === method && request.url.startsWith(path);
  const toldBefore = await page.locator(".toast-done").count();
  const toldSince = async () => Math.max(0, (await page.locator(".toast-done").count()) - toldBefore);
  proxy.seen.length = 0;
  proxy.rule = (request) => {
    if (isIt(request)) return { [how === "refuse" ? "refuse" : "lose"]: true };
    return how === "lose" && request.method === "GET" && request.url.startsWith("/v1/") ? { refuse: true } : undefined;
  };
  // Else the page may hear of the act, and show what came of it, before it is asked to try again.
  if (how === "lose") proxy.drop("/v1/changes");
  await act();
  const found = { name, how, before };
  if (how === "find") await done();
  else Object.assign(found, await againAfter({ name, how, near, typed, toldSince, isIt, done }));
  proxy.rule = () => undefined;
  found.toldAsDone = await toldSince();
  if (version) found.after = await versionOf(version);
  facts.tell("act", found);
  for (const each of await page.locator(".toast").all()) await button("Close", each).last().click({ timeout: 2_000 }).catch(() => undefined);
}

/** What is told of a failure, and what comes of doing it again. */
async function againAfter({ name, how, near, typed, toldSince, isIt, done }) {
  const failure = near.locator(".act-failure").filter({ visible: true }).first();
  await failure.waitFor();
  const found = { told: await failure.innerText(), toldTooEarly: await toldSince() };
  if (typed) found.typed = await typed();
  if (how === "refuse") await facts.picture(page, name.replaceAll(" ", "-"));
  // What was lost is done: a list that is read anew would take away what is to be tried again, on a slow machine too soon.
  const isOfList = (url) => ["/v1/changes", "/v1/memories?", "/v1/review"].some((each) => url.startsWith(each));
  proxy.rule = ({ url, method }) => (how === "lose" && method === "GET" && isOfList(url) ? { refuse: true } : undefined);
  proxy.seen.length = 0;
  await button("Try again", failure).click();
  await failure.waitFor({ state: "detached" });
  proxy.rule = () => undefined;
  await done();
  found.sent = proxy.seen.filter(isIt).length;
  return found;
}

/** What is done to one memory, each on one of its own. */
async function memory() {
  const view = main.locator(".half-one");
  for (const how of ["refuse", "lose", "find"]) {
    const open = async (key, type = "Note") => {
      const address = `${type}/${key}-${how}`;
      await at(`memories/${address}`, ".revision");
      return { version: address, path: `/v1/memories/${address}`, how };
    };
    await twice("end", { ...(await open("end")), near: view, act: () => button("End", view).click(), done: () => toast("Ended").waitFor() });
    await twice("reject", { ...(await open("reject")), near: view, act: () => button("Reject", view.locator(".acts")).click(), done: () => toast("Rejected").waitFor() });
    const row = view.locator(".value-row", { hasText: "home" }).first();
    await twice("reject a field", {
      ...(await open("field", "Trip")), near: row,
      act: async () => {
        await row.hover();
        await row.getByRole("button", { name: "Reject home" }).click();
      },
      done: () => toast("Rejected").waitFor(),
    });
    const first = view.locator(".revision", { hasText: "Version 1" });
    await twice("restore", { ...(await open("restore")), near: first, act: () => button("Restore", first).click(), done: () => toast("is in force again").waitFor() });
    const edited = await open("edit");
    const text = view.locator("textarea.code");
    await twice("edit", {
      ...edited, near: view.locator(".edit"), method: "PUT",
      act: async () => {
        await button("Edit", view).click();
        await button("JSON", view).click();
        await text.fill((await text.inputValue()).replace("harbour", "lighthouse"));
        await button("Save", view).click();
      },
      typed: () => text.inputValue(), done: () => toast("Saved as version 2").waitFor(),
    });
    await twice("delete", { ...(await open("delete")), near: view, method: "DELETE", act: () => button("Delete", view).click(), done: () => toast("Deleted").waitFor() });
  }
}

/** What a toast offers fails in the toast, which stays until it is done. */
async function undo() {
  const view = main.locator(".half-one");
  await at("memories/Note/undo", ".revision");
  await button("Reject", view.locator(".acts")).click();
  await toast("Rejected").waitFor();
  const offered = page.locator(".toast").last();
  await twice("undo", {
    near: offered, path: "/v1/undo", act: () => button("Undo", offered).click(),
    done: () => view.locator(".memory-head .badge").waitFor({ state: "detached" }),
  });
}

/** Somebody else changes a memory while it is edited: that is told, and what was typed stays. */
async function conflict() {
  const view = main.locator(".half-one");
  await at("memories/Note/both", ".revision");
  await button("Edit", view).click();
  await button("JSON", view).click();
  const text = view.locator("textarea.code");
  await text.fill('{"context": "mine", "content": "typed for long"}');
  await page.request.put(`${service}/v1/memories/Note/both`, { data: { value: { context: "theirs", content: "x" } } });
  await view.locator(".about", { hasText: "Version 2" }).waitFor();
  await button("Save", view).click();
  await view.locator(".edit-end").getByRole("alert").waitFor();
  const changed = { told: await view.locator(".edit").innerText(), again: await button("Try again", view.locator(".edit")).count(), typed: await text.inputValue() };
  await page.request.delete(`${service}/v1/memories/Note/both`);
  await view.locator(".notice", { hasText: "deleted or erased" }).waitFor();
  facts.tell("conflict", { ...changed, typedAfter: await text.inputValue() });
  await facts.picture(page, "conflict");
}

async function add() {
  await at("memories", ".row");
  await button("Add").click();
  await dialog.locator(".add-more summary").click();
  await dialog.getByLabel("Key").fill("added");
  await dialog.getByLabel("context", { exact: false }).fill("here");
  const text = dialog.getByLabel("content", { exact: false });
  await text.fill("written by hand");
  await twice("add", { near: dialog, path: "/v1/memories/Note/added", method: "PUT", act: () => button("Save", dialog).click(), typed: () => text.inputValue(), done: () => page.locator(".revision").first().waitFor(), version: "Note/added" });
}

async function review() {
  for (const how of ["refuse", "lose"]) {
    for (const [name, told] of [["Approve", "Approved"], ["Reject", "Rejected"]]) {
      await at("review", ".card");
      const key = `doubt-${name.toLowerCase()}-${how}`;
      const card = main.locator(".card", { hasText: `of ${key}` });
      await twice(`review ${name.toLowerCase()}`, {
        how, near: card, path: `/v1/memories/Note/${key}/${name.toLowerCase()}`, version: `Note/${key}`,
        act: () => button(name, card).click(), done: () => toast(told).waitFor(),
      });
      await card.waitFor({ state: "detached" });
    }
  }
}

async function types() {
  await at("types", ".types-code");
  const area = page.locator(".types-code");
  await area.fill((await area.inputValue()).replace('"description": "', '"description": "Mine. '));
  await page.getByText("The types are sound.").waitFor();
  const block = main.locator(".types > .block").last();
  await twice("save types", { near: block, path: "/v1/types", method: "PUT", act: () => button("Save", block).click(), typed: async () => (await area.inputValue()).includes("Mine. "), done: () => toast("The types are in force").waitFor() });
  proxy.rule = ({ url }) => (url.startsWith("/v1/types/check") ? { refuse: true } : undefined);
  await area.fill((await area.inputValue()).replace("Mine. ", "Ours. "));
  const check = page.locator("#types-check .wrong");
  await check.waitFor();
  proxy.rule = () => undefined;
  await button("Try again", check).click();
  await page.getByText("The types are sound.").waitFor();
}

async function formation() {
  await at("formation", ".jobs li");
  const header = main.locator(".page");
  const job = main.locator(".jobs li", { hasText: "I keep bees in Porto." });
  await button("Form now", job).click();
  // The model fails: the service answers well, and has formed nothing all the same.
  await job.locator(".act-failure").waitFor();
  facts.tell("model_failed", { told: await job.locator(".act-failure").innerText(), done: await page.locator(".toast-done").count() });
  await facts.picture(page, "model-failed");
  await button("Close", job).click();
  await job.locator(".badge").waitFor();
  await twice("retry", { near: job, path: "/v1/formation/retry", act: () => button("Retry", job).click(), done: () => toast("It will be tried again").waitFor() });
  await page.locator(".receipts li", { hasText: "1 stored" }).first().waitFor();
  const waits = () => page.request.post(`${service}/v1/threads/waits/messages`, { data: { messages: [{ role: "user", text: "I keep a dog." }] } });
  await waits();
  await main.locator(".jobs li", { hasText: "I keep a dog." }).waitFor();
  // On a slow machine the service has formed what waits by itself meanwhile, and says so.
  await twice("form all", { near: header, path: "/v1/form", act: () => button("Form all now").click(), done: () => toast(/there was nothing to remember|being formed already/).waitFor() });
  await waits();
  await main.locator(".jobs li", { hasText: "I keep a dog." }).waitFor();
  await twice("pause", { near: header, path: "/v1/formation/pause", act: () => button("Pause").click(), done: () => toast("Formation is paused").waitFor() });
  await twice("resume", { near: header, path: "/v1/formation/resume", act: () => button("Resume").click(), done: () => toast("Formation goes on").waitFor() });
}

async function chat() {
  await at("chat/marked", ".stored-mark");
  const panel = page.locator("#memories-panel");
  const mark = main.locator(".marks").first();
  await twice("take back", { near: mark, path: "/v1/memories/change", act: () => mark.getByRole("button", { name: /Undo what/ }).click(), done: () => toast("Taken back").waitFor() });
  await page.request.post(`${service}/v1/threads/waits/messages`, { data: { messages: [{ role: "user", text: "I keep a dog." }] } });
  await at("chat/waits", ".turn");
  await twice("form now", { near: panel, path: "/v1/form", act: () => button("Form now", panel).click(), done: () => toast("Formed").waitFor() });
}

async function graph() {
  await at("graph?entity=Ada", ".node.first");
  await twice("expand", { near: main, path: "/v1/graph", method: "GET", act: () => page.getByRole("button", { name: "Expand Grace" }).click(), done: () => page.getByRole("button", { name: "Expand Boston" }).waitFor() });
}

async function keys() {
  await at("settings", ".plain-table, .block");
  await button("New key").click();
  await dialog.getByLabel("Name").fill("reader");
  await twice("make a key", { near: dialog, path: "/v1/keys", act: () => button("New key", dialog).click(), typed: () => dialog.getByLabel("Name").inputValue(), done: () => dialog.locator(".secret").waitFor() });
  await button("I have noted it").click();
  const table = main.locator(".plain-table", { hasText: "Last used" });
  const row = table.locator("tr", { hasText: "reader" });
  await twice("rotate a key", { near: table, path: "/v1/keys/", act: () => button("Rotate", row).click(), done: () => dialog.locator(".secret").waitFor() });
  await button("I have noted it").click();
  await twice("revoke a key", { near: table, how: "lose", path: "/v1/keys/", method: "DELETE", act: () => button("Revoke", row).click(), done: () => toast("The key is revoked").waitFor() });
  await row.waitFor({ state: "detached" });
}

async function archive() {
  await at("settings", ".block");
  const block = main.locator(".block", { hasText: "Choose files" }).last();
  const field = page.getByLabel("Choose files, or drop them here");
  await twice("export", { near: main.locator(".block", { hasText: "as JSON Lines" }).last(), path: "/v1/export", method: "GET", act: () => button("Export").click(), done: () => page.waitForTimeout(300) });
  const line = JSON.stringify({ kind: "nonsense" });
  await twice("import", {
    near: block, path: "/v1/import", typed: () => block.locator(".import-state h3").innerText(),
    act: () => field.setInputFiles({ name: "memory.jsonl", mimeType: "application/x-ndjson", buffer: Buffer.from(`${line}\n`) }),
    done: () => block.locator(".complaints li").waitFor(),
  });
  const audit = main.locator(".block", { hasText: "Verify the chain" }).last();
  await twice("verify", { near: audit, path: "/v1/audit/verify", method: "GET", act: () => button("Verify the chain").click(), done: () => toast("the chain is whole").waitFor() });
}

async function erase() {
  for (const how of ["refuse", "lose"]) {
    await at("settings", ".erase");
    const block = main.locator(".block:has(.erase)").last();
    await page.getByLabel("Thread", { exact: true }).fill(`erased-${how}`);
    const preview = { near: block, path: "/v1/erase/preview", act: () => button("Preview").click(), typed: () => page.getByLabel("Thread", { exact: true }).inputValue(), done: () => dialog.locator(".counts").waitFor() };
    if (how === "refuse") await twice("preview", preview);
    else {
      await preview.act();
      await preview.done();
    }
    await dialog.getByRole("textbox").fill("Erase");
    await twice("erase", { how, near: dialog, path: "/v1/erase", act: () => button("Erase for good", dialog).click(), typed: () => dialog.getByRole("textbox").inputValue(), done: () => toast("Erased: ").waitFor() });
    facts.tell(`erased_${how}`, { thread: await asked(`threads/erased-${how}`), receipts: (await asked("erase/receipts")).receipts.length });
  }
}

/** Who has left the place where something was done is told of its failure where they are. */
async function left() {
  const view = main.locator(".half-one");
  await at("memories/Note/left", ".revision");
  let arrived;
  const reached = new Promise((resolve) => (arrived = resolve));
  proxy.rule = ({ method, url }) => {
    if (method !== "POST" || !url.startsWith("/v1/memories/Note/left")) return undefined;
    arrived();
    return { refuse: true, after_ms: 400 };
  };
  await button("Reject", view.locator(".acts")).click();
  await reached;
  await page.evaluate(() => (location.hash = "#/types"));
  await page.locator(".types-code").waitFor();
  const wrong = page.locator(".toast-wrong");
  await wrong.waitFor();
  const text = await wrong.innerText();
  proxy.rule = () => undefined;
  await button("Try again", wrong).click();
  await toast("Rejected").waitFor();
  facts.tell("left", { told: text, state: (await asked("memories/Note/left")).state });
}

/** How failures look, at three sizes and in Chinese. */
async function looks() {
  const view = main.locator(".half-one");
  proxy.rule = ({ method }) => (method === "GET" ? undefined : { refuse: true });
  for (const [language, width, height] of [["en", 1280, 800], ["en", 1920, 1080], ["zh", 390, 844]]) {
    await page.evaluate((chosen) => localStorage.setItem("recollect.page", JSON.stringify({ language: chosen })), language);
    await page.setViewportSize({ width, height });
    await page.goto(`${base}/#/memories/Note/looks`);
    await page.reload();
    await view.locator(".acts button").nth(1).click();
    await view.locator(".act-failure").waitFor();
    await facts.picture(page, `failure-${language}-${width}`);
    await audited(page, facts, `failure ${language} ${width}`);
    facts.tell("overflow_px", { screen: `failure ${language} ${width}`, px: await page.evaluate(() => document.documentElement.scrollWidth - innerWidth) });
    await page.goto(`${base}/#/settings`);
    await page.locator(".erase input").first().fill("x");
    await page.locator(".erase button").click();
    await page.locator(".erase .act-failure").waitFor();
    await facts.picture(page, `failure-settings-${language}-${width}`);
  }
  proxy.rule = () => undefined;
}

await told({ memory, undo, conflict, add, review, types, formation, chat, graph, keys, archive, erase, left, looks }, { facts, page, noted, close: async () => { await close(); proxy.close(); } });
