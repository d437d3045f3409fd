/** What a person erases from where they see it: node erasing.mjs ADDRESS FOLDER CHROMIUM. Facts go to standard output. */

import { openBrowser, watched } from "./browser.mjs";
import { audited, told } from "./chapters.mjs";
import { Facts } from "./facts.mjs";
import { openProxy } from "./proxy.mjs";

const [base, folder, chromium] = process.argv.slice(2);
const facts = new Facts(folder);
const { browser, close } = await openBrowser(chromium);
const { page, noted } = await watched(browser, base);
await page.setViewportSize({ width: 1280, height: 900 });

const SCOPE = "scope=mira";
const button = (name, within = page) => within.getByRole("button", { name, exact: true });
const dialog = page.locator("dialog");
const status = async (path) => (await page.request.get(`${base}/v1/${path}?${SCOPE}`)).status();
const messagesOf = async (thread) => (await (await page.request.get(`${base}/v1/threads/${thread}/messages?${SCOPE}&last=200`)).json()).messages;

/** What the dialog says, once it knows all. */
async function asked(picture) {
  await dialog.locator(".counts").waitFor();
  await dialog.locator(".erase-taken").first().waitFor();
  const isReady = await dialog.getByRole("textbox").evaluate((field) => field === document.activeElement);
  await facts.picture(page, picture);
  await audited(page, facts, picture);
  const [field, act] = await Promise.all([dialog.getByRole("textbox"), button("Erase for good", dialog)].map((each) => each.boundingBox().catch(() => null)));
  const isInView = Boolean(field) && field.y >= 0 && field.y + field.height <= page.viewportSize().height;
  return { isInView, isReady, text: await dialog.innerText(), links: await dialog.locator("a").count() };
}

async function confirmed() {
  await page.keyboard.type("Erase");
  await page.keyboard.press("Enter");
  await dialog.waitFor({ state: "detached" });
  await page.locator(".toast", { hasText: "Erased: " }).last().waitFor();
}

const SECRET = "5519-XQ";
const DAY = ["The code of the garage door is 5519-XQ.", "I will keep it in mind.", "What shall I cook?", "Soup.", "And for the guests?", "More soup.", "Thank you.", "With pleasure."];

/** Where a page shows or keeps the secret. */
async function secretIn(shown) {
  return shown.evaluate((secret) => {
    const fields = [...document.querySelectorAll("input, textarea, option")].map((each) => each.value);
    const names = [...document.querySelectorAll("[title], [aria-label], [href]")].flatMap((each) => ["title", "aria-label", "href"].map((name) => each.getAttribute(name) ?? ""));
    const places = { text: document.body.textContent, title: document.title, fields: fields.join(), names: names.join(), address: location.href, tab: JSON.stringify({ ...sessionStorage }), browser: JSON.stringify({ ...localStorage }) };
    return Object.keys(places).filter((each) => places[each].includes(secret));
  }, SECRET);
}

/** In Chinese the fields of a profile have their Chinese names where it is asked whether it goes. */
async function inChinese() {
  const language = page.locator("select").filter({ hasText: "中文" });
  await page.goto(`${base}/#/settings?${SCOPE}`);
  await language.selectOption("zh");
  await page.goto(`${base}/#/memories/User/User?${SCOPE}`);
  await button("彻底抹除…").click();
  facts.tell("chinese", (await asked("chinese")).text);
  await button("取消", dialog).click();
  await page.goto(`${base}/#/settings?${SCOPE}`);
  await language.selectOption("en");
}

/** Nothing of an erased message is left: not in the window that erased it, and not in others. */
async function secret() {
  const say = (texts, from) => page.request.post(`${base}/v1/threads/secret/messages?${SCOPE}`, { data: { messages: texts.map((text, place) => ({ role: (from + place) % 2 ? "assistant" : "user", text })) } });
  await say(DAY.slice(0, 2), 0);
  await page.goto(`${base}/#/chat/secret?${SCOPE}`);
  const named = page.locator(".thread", { hasText: SECRET });
  await named.waitFor();
  // Another thread is open there: the list has the title from before more was said.
  const list = await browser.newPage();
  await list.goto(`${base}/#/chat/elsewhere?${SCOPE}`);
  await list.locator(".thread", { hasText: SECRET }).waitFor();
  await say(DAY.slice(2), 2);
  await page.locator(".turn", { hasText: "With pleasure." }).waitFor();
  const windows = { own: page, list };
  const first = (await messagesOf("secret"))[0].id;
  for (const [name, place] of Object.entries({ chat: `chat/secret?${SCOPE}&message=${first}&quote=${SECRET}`, recall: `recall?${SCOPE}&q=garage+door&side=1&b_q=${SECRET}`, overview: `overview?${SCOPE}` })) {
    windows[name] = await browser.newPage();
    await windows[name].goto(`${base}/#/${place}`);
    await windows[name].locator(`main ${{ chat: ".turn", recall: ".entry", overview: ".block" }[name]}`).first().waitFor();
  }
  const before = Object.fromEntries(await Promise.all(Object.entries(windows).map(async ([name, each]) => [name, await secretIn(each)])));
  await page.bringToFront();
  const turn = page.locator(".turn", { hasText: SECRET }).first();
  await turn.hover();
  await button("Erase this message for good …", turn).click();
  await page.setViewportSize({ width: 1280, height: 500 });
  const { isInView } = await asked("secret");
  await page.setViewportSize({ width: 1280, height: 900 });
  await confirmed();
  const after = await leftIn(windows);
  const gap = page.locator(".lost");
  await gap.first().waitFor();
  facts.tell("gap", { said: await gap.allInnerTexts(), next: await gap.first().evaluate((each) => each.nextElementSibling.innerText) });
  facts.tell("secret", { isInView, before, after, head: await page.locator(".talk-head h1").innerText(), listed: await page.locator(".thread.here .thread-name").innerText() });
}

/** Windows whose connection was cut off while words were erased forget them once it is back, without being loaded anew. */
async function missed() {
  const proxy = await openProxy(base);
  const windows = {};
  await page.request.post(`${base}/v1/threads/missed/messages?${SCOPE}`, { data: { messages: DAY.map((text, place) => ({ role: place % 2 ? "assistant" : "user", text })) } });
  const first = (await messagesOf("missed"))[0].id;
  for (const [name, place] of Object.entries({ chat: `chat/missed?${SCOPE}&message=${first}&quote=${SECRET}`, recall: `recall?${SCOPE}&q=garage+door+${SECRET}` })) {
    windows[name] = await browser.newPage();
    await windows[name].goto(`${proxy.address}/#/${place}`);
    await windows[name].locator(name === "chat" ? ".turn" : ".entry").first().waitFor();
    await windows[name].evaluate(() => (window.isSame = true));
  }
  await windows.chat.fill("#composer", "See you on Friday.");
  proxy.rule = () => ({ refuse: true });
  proxy.drop("/v1/changes");
  for (const each of Object.values(windows)) await each.locator(".cut-off").waitFor();
  await page.goto(`${base}/#/chat/missed?${SCOPE}`);
  const turn = page.locator(".turn", { hasText: SECRET }).first();
  await turn.hover();
  await button("Erase this message for good …", turn).click();
  await asked("missed");
  await confirmed();
  const before = Object.fromEntries(await Promise.all(Object.entries(windows).map(async ([name, each]) => [name, await secretIn(each)])));
  proxy.rule = () => undefined;
  for (const each of Object.values(windows)) await each.locator(".cut-off").waitFor({ state: "detached" });
  const isSame = await Promise.all(Object.values(windows).map((each) => each.evaluate(() => window.isSame === true)));
  const draft = await windows.chat.inputValue("#composer");
  facts.tell("missed", { before, isSame, draft, after: await leftIn(windows) });
  proxy.close();
}

/** Where each window shows or keeps the secret a moment later; all but the first are closed. */
async function leftIn(windows) {
  const left = {};
  for (const [name, each] of Object.entries(windows)) {
    for (let n = 0; n < 20; n++) {
      left[name] = await secretIn(each);
      if (!left[name].length) break;
      await page.waitForTimeout(150);
    }
    if (name !== "own") await each.close();
  }
  return left;
}

/** What was typed and asked goes with the words that it repeats; what has nothing to do with them stays. */
async function fields() {
  await page.request.post(`${base}/v1/threads/code/messages?${SCOPE}`, { data: { messages: [{ role: "user", text: DAY[0] }, { role: "assistant", text: DAY[1] }] } });
  await page.goto(`${base}/#/chat/code?${SCOPE}`);
  await page.locator(".turn", { hasText: DAY[1] }).waitFor();
  await page.fill("#composer", SECRET);
  const windows = { own: page };
  for (const [name, place] of Object.entries({ overview: `overview?${SCOPE}`, memories: `memories?${SCOPE}&q=${SECRET}`, graph: `graph?${SCOPE}&entity=${SECRET}`, elsewhere: `chat/elsewhere?${SCOPE}` })) {
    windows[name] = await browser.newPage();
    await windows[name].goto(`${base}/#/${place}`);
    await windows[name].locator(name === "elsewhere" ? ".messages .empty" : "main #search").waitFor();
  }
  await windows.overview.fill("#search", SECRET);
  await windows.elsewhere.fill("#composer", "See you on Friday.");
  const before = Object.fromEntries(await Promise.all(Object.entries(windows).map(async ([name, each]) => [name, await secretIn(each)])));
  await page.bringToFront();
  const turn = page.locator(".turn", { hasText: SECRET }).first();
  await turn.hover();
  await button("Erase this message for good …", turn).click();
  await asked("fields");
  await confirmed();
  const { elsewhere, ...others } = windows;
  const after = await leftIn(others);
  facts.tell("fields", { before, after, draft: await elsewhere.inputValue("#composer") });
  await elsewhere.close();
}

/** The way back to a question that repeats what was erased since shows an empty field, and asks nothing. */
async function back() {
  await page.request.post(`${base}/v1/threads/back/messages?${SCOPE}`, { data: { messages: [{ role: "user", text: DAY[0] }, { role: "assistant", text: DAY[1] }] } });
  const other = await browser.newPage();
  await other.goto(`${base}/#/recall?${SCOPE}`);
  await other.fill("#search", `garage door ${SECRET}`);
  await other.keyboard.press("Enter");
  await other.locator(".entry").first().waitFor();
  await other.getByRole("link", { name: "Memories", exact: true }).click();
  await other.fill("#search", SECRET);
  await other.waitForFunction(() => location.hash.includes("s="));
  await other.getByRole("link", { name: "Formation", exact: true }).click();
  await other.locator("h1", { hasText: "Formation" }).waitFor();
  const before = await secretIn(other);
  const addresses = () => other.evaluate((secret) => navigation.entries().filter((each) => decodeURIComponent(each.url).includes(secret)).length, SECRET);
  const named = await addresses();
  await page.goto(`${base}/#/chat/back?${SCOPE}`);
  const turn = page.locator(".turn", { hasText: SECRET }).first();
  await turn.hover();
  await button("Erase this message for good …", turn).click();
  await asked("back");
  await confirmed();
  await other.bringToFront();
  await leftIn({ own: other });
  const repeated = [];
  other.on("request", (request) => /\/recall|\bq=/.test(request.url()) && repeated.push(request.url()));
  const fields = {};
  for (const name of ["memories", "recall"]) {
    await other.goBack();
    await other.locator("h1", { hasText: new RegExp(name, "i") }).waitFor();
    await other.waitForTimeout(600);
    fields[name] = await other.inputValue("#search");
  }
  facts.tell("back", { before, named, fields, repeated, after: await secretIn(other) });
  await other.close();
  await page.bringToFront();
}

/** A memory, with one of the messages that it came from. */
async function memory() {
  await page.goto(`${base}/#/memories/Fact/home-porto?${SCOPE}`);
  await page.locator(".revision").first().waitFor();
  const other = await browser.newPage();
  await other.goto(page.url());
  await button("Edit", other).click();
  await other.locator(".value-form textarea").last().fill("Coimbra");
  await page.bringToFront();
  await button("Erase for good …").click();
  const found = await asked("memory");
  const parts = async () => [await dialog.locator(".counts").innerText(), ...(await dialog.locator(".counts-parts li").allInnerTexts())];
  await dialog.locator(".counts-parts li").nth(1).waitFor();
  const [whole, ...rest] = await parts();
  const words = /“(.{20})/.exec(await dialog.locator(".erase-also label").first().innerText())[1];
  await dialog.getByRole("textbox").focus();
  await confirmed();
  await other.bringToFront();
  await other.locator("form.edit").waitFor({ state: "detached" });
  facts.tell("form_left", await other.evaluate(() => JSON.stringify({ ...sessionStorage }).includes("Coimbra")));
  await other.close();
  await page.bringToFront();
  const toast = page.locator(".toast", { hasText: "Erased: " }).last();
  const said = await toast.locator("span").first().innerText();
  facts.tell("totals", { whole, rest, said, receipts: (await (await page.request.get(`${base}/v1/erase/receipts?${SCOPE}`)).json()).receipts.map(({ messages, memories }) => ({ messages, memories })) });
  facts.tell("memory", { ...found, words, after: await status("memories/Fact/home-porto"), place: new URL(page.url()).hash });
  const threads = (await (await page.request.get(`${base}/v1/threads?${SCOPE}&limit=50`)).json()).threads;
  const left = (await Promise.all(threads.map((each) => messagesOf(each.id)))).flat().filter((each) => each.text.includes(words));
  facts.tell("words_left", left.length);
}

/** The notice leads to the receipt, which says what went, when and how much. */
async function receipt() {
  const place = page.url();
  await page.locator(".toast", { hasText: "Erased: " }).last().getByRole("link", { name: "See the receipt" }).click();
  const wanted = page.locator(".erase-receipts details[open]");
  await wanted.first().waitFor();
  facts.tell("receipt", { hash: new URL(page.url()).hash, said: await wanted.locator("summary").allInnerTexts(), rows: await wanted.first().locator("dt").allInnerTexts(), others: await page.locator(".erase-receipts summary").allInnerTexts() });
  await facts.picture(page, "receipt");
  await audited(page, facts, "receipt");
  await page.goto(place);
}

/** An act of two receipts: the dialog lists all messages, and the notice leads to its one row, which has both. */
async function two() {
  const say = (thread, texts) => page.request.post(`${base}/v1/threads/${thread}/messages?${SCOPE}`, { data: { messages: texts.map(([role, text]) => ({ role, text })) } });
  await say("two-b", [["user", "The attic window opens with the brass handle 8846-K."], ["assistant", "I see."]]);
  await say("two-a", [["user", "The attic window opens with the brass handle 8846-K."], ["assistant", "I see."], ["user", "My brother Tomas lives in Linz now."]]);
  await say("two-c", [["user", "My brother Tomas lives in Graz with his wife."]]);
  await page.goto(`${base}/#/chat/two-a?${SCOPE}`);
  await page.locator(".turn", { hasText: "Linz" }).waitFor();
  await button("Erase this thread for good …").click();
  await asked("two");
  await dialog.locator(".counts-parts li").nth(1).waitFor();
  const checks = Object.fromEntries(await Promise.all((await dialog.locator(".erase-also label").all()).map(async (each) => [await each.innerText(), await each.locator("input").isChecked()])));
  await dialog.locator(".erase-taken").first().locator("li").nth(3).waitFor();
  const [whole, listed] = [await dialog.locator(".counts").innerText(), await dialog.locator(".erase-taken").first().locator("li").count()];
  await dialog.getByRole("textbox").focus();
  await confirmed();
  // The notice of the act before may still be there: the wanted one leads to two receipts.
  await page.locator(".toast").locator("xpath=.//a[contains(substring-after(@href, 'receipt='), 'receipt=')]").click();
  const act = page.locator(".erase-receipts details[open]");
  await act.locator("dl").nth(1).waitFor();
  facts.tell("two", { checks, whole, listed, rows: await act.locator("summary").allInnerTexts(), receipts: await act.locator("dl").allInnerTexts() });
  await page.goto(`${base}/#/chat?${SCOPE}`);
}

/** A message that memories rest on: asked about, and left alone. */
async function message() {
  await page.goto(`${base}/#/chat?${SCOPE}`);
  const turn = page.locator(".turn-user", { has: page.locator(".marks") }).last();
  await turn.waitFor();
  const thread = decodeURIComponent(new URL(page.url()).hash.split("/")[2].split("?")[0]);
  const before = (await messagesOf(thread)).length;
  await turn.hover();
  await button("Erase this message for good …", turn).click();
  const found = await asked("message");
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  facts.tell("message", { ...found, said: (await turn.locator(".turn-text").innerText()).slice(0, 40), before, after: (await messagesOf(thread)).length });
}

/** The whole thread. */
async function thread() {
  const id = decodeURIComponent(new URL(page.url()).hash.split("/")[2].split("?")[0]);
  const other = await browser.newPage();
  await other.goto(page.url());
  await other.locator(".turn").first().waitFor();
  await other.fill("#composer", "See you on Friday.");
  await page.bringToFront();
  await button("Erase this thread for good …").click();
  const found = await asked("thread");
  await confirmed();
  await page.waitForFunction((gone) => !location.hash.includes(encodeURIComponent(gone)), id);
  await page.goBack();
  await page.locator(".talk-head h1", { hasText: "This thread is gone" }).waitFor();
  facts.tell("gone", { told: await page.locator(".messages").innerText(), listed: await page.locator(".threads .thread-name").allInnerTexts(), here: await page.locator(".thread.here").count() });
  await facts.picture(page, "thread-gone");
  await other.bringToFront();
  await other.waitForFunction(() => document.querySelector("#composer").value === "");
  facts.tell("thread", { ...found, drafts: await other.evaluate(() => JSON.stringify({ ...sessionStorage }).includes("Friday")), after: await status(`threads/${encodeURIComponent(id)}`) });
  await other.close();
}

/** What is not there is told instead of a dialog of zeros; what is there can be chosen. */
async function unknown() {
  await page.goto(`${base}/#/settings?${SCOPE}`);
  const told_ = {};
  for (const [kind, fields] of [["thread", { Thread: "nowhere" }], ["message", { Thread: "nowhere", Message: "m1" }], ["memory", { Type: "Note", Key: "none" }]]) {
    await page.getByLabel("What", { exact: true }).selectOption(kind);
    for (const [name, value] of Object.entries(fields)) await page.locator(".erase").getByLabel(name, { exact: true }).fill(value);
    await button("Preview").click();
    await page.locator(".erase").getByRole("alert").waitFor();
    told_[kind] = await page.locator(".erase").getByRole("alert").innerText();
  }
  await page.getByLabel("What", { exact: true }).selectOption("memory");
  await page.locator(".erase").getByLabel("Type", { exact: true }).fill("Fact");
  await page.locator(".erase datalist").last().locator("option").first().waitFor({ state: "attached" });
  facts.tell("unknown", { told: told_, dialogs: await dialog.count(), offered: await page.locator(".erase datalist").last().locator("option").allInnerTexts() });
  await facts.picture(page, "settings");
}

/** A thread that the first page of the list does not come to is no new one after its erase. */
async function beyond() {
  await page.route(/\/v1\/threads\?/, async (route) => {
    const answer = await (await route.fetch()).json();
    await route.fulfill({ json: { ...answer, threads: answer.threads.filter((each) => !each.id.startsWith("talk")), cursor: "more" } });
  });
  await page.goto(`${base}/#/chat?${SCOPE}`);
  await page.reload();
  await page.locator(".thread").first().waitFor();
  await page.locator(".new-thread").click();
  const fresh = page.locator(".thread", { hasText: "New thread" });
  await fresh.waitFor();
  await page.fill("#composer", "The skiff is tarred.");
  await page.keyboard.press("Enter");
  await page.locator(".turn", { hasText: "The skiff is tarred." }).waitFor();
  const id = decodeURIComponent(new URL(page.url()).hash.split("/")[2].split("?")[0]);
  await page.waitForTimeout(500);
  const before = await fresh.count();
  await page.request.post(`${base}/v1/erase?${SCOPE}`, { data: { confirm: (await (await page.request.post(`${base}/v1/erase/preview?${SCOPE}`, { data: { target: { thread: id } } })).json()).confirm } });
  await page.locator(".talk-head h1", { hasText: "This thread is gone" }).waitFor();
  await fresh.waitFor({ state: "detached" });
  facts.tell("beyond", { before, id, rows: await page.locator(".thread.here").count() });
  await page.unrouteAll({ behavior: "ignoreErrors" });
}

await told({ inChinese, memory, receipt, message, thread, unknown, secret, fields, back, missed, two, beyond }, { facts, page, noted, close });
