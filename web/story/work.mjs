/** What a person who looks after a memory does: node work.mjs ADDRESS FOLDER CHROMIUM. Facts go to standard output. */

import { openBrowser, watched } from "./browser.mjs";
import { audited, told } from "./chapters.mjs";
import { Facts } from "./facts.mjs";

const [base, folder, chromium] = process.argv.slice(2);
const facts = new Facts(folder);
const { browser, close } = await openBrowser(chromium);
const { page, noted } = await watched(browser, base);

const button = (name, within = page) => within.getByRole("button", { name, exact: true });
const toast = (text) => page.locator(".toast", { hasText: text }).last();
const settled = (name) => facts.picture(page, name).then(() => audited(page, facts, name));
/** What the service has at an address, byte for byte. */
const raw = async (path) => (await page.request.get(`${base}/v1/${path}`)).text();
const valueIn = (text) => text.slice(text.indexOf('"value":'), text.indexOf(',"text":'));
const at = async (...parts) => {
  await page.goto(`${base}/#/${parts.join("/")}`);
};

async function review() {
  await at("review");
  const card = page.locator(".card", { hasText: "4,200" });
  await card.waitFor();
  await settled("review");
  facts.tell("doubt", await card.locator(".notice").innerText());
  const waiting = JSON.parse(await raw("memories?state=quarantined")).memories.find((each) => each.value.content.includes("4,200"));
  const place = `memories/${waiting.type}/${waiting.key}`;
  const before = await raw(place);
  await button("Approve", card).click();
  await toast("Approved.").waitFor();
  await card.waitFor({ state: "detached" });
  const after = await raw(place);
  facts.tell("approved", { is_same: valueIn(before) === valueIn(after), before: JSON.parse(before).state, after: JSON.parse(after).state, value: JSON.parse(after).value });
  await button("Undo", toast("Approved.")).click();
  await card.waitFor();
  await card.locator(".notice").waitFor();
  facts.tell("approval_undone", { state: JSON.parse(await raw(place)).state, doubt: await card.locator(".notice").innerText() });
  await button("Approve", card).click();
  await card.waitFor({ state: "detached" });
  const other = page.locator(".card", { hasText: "5,300" });
  await button("Reject", other).click();
  await button("Undo", toast("Rejected: it will not be formed again")).click();
  await other.waitFor();
  facts.tell("refusal_undone", JSON.parse(await raw("memories?state=rejected")).memories.length);
  await button("Reject", other).click();
  await page.getByText("Nothing waits for you").waitFor();
  await facts.picture(page, "review-done");
  await page.goto(`${base}/#/memories?state=rejected`);
  await page.locator(".row", { hasText: "5,300" }).waitFor();
  facts.tell("rejected_rows", await page.locator(".row").count());
  facts.tell("rejected_types", (await page.locator(".filters select").first().locator("option").allInnerTexts()).filter((each) => /\d/.test(each)));
  await page.locator(".row", { hasText: "5,300" }).click();
  await page.locator(".facts").waitFor();
  facts.tell("rejected_told", await page.locator(".half-one").innerText());
  await facts.picture(page, "rejected");
}

async function dead() {
  await at("formation");
  const receipt = page.locator(".receipts li", { hasText: "given up" });
  await receipt.locator("summary").click();
  await receipt.locator(".fault").first().waitFor();
  facts.tell("given_up", await receipt.innerText());
  const name = receipt.locator(".receipt-threads .thread-title");
  await page.waitForFunction((each) => each.innerText !== each.title, await name.elementHandle());
  facts.tell("receipt_thread", { said: await name.innerText(), id: await name.getAttribute("title"), first: JSON.parse(await raw(`threads/${await name.getAttribute("title")}/messages?limit=1`)).messages[0].text });
  await settled("formation-given-up");
  await button("Retry", receipt).click();
  await toast("It will be tried again.").waitFor();
  await page.locator(".receipts li", { hasText: "tried again" }).waitFor();
  await page.locator(".receipts li", { hasText: "1 stored" }).first().waitFor();
  await facts.picture(page, "formation-retried");
  await page.goto(`${base}/#/memories?q=bees`);
  await page.locator(".row", { hasText: "bees" }).first().waitFor();
  facts.tell("formed_after_all", await page.locator(".row").first().innerText());
}

async function failed() {
  await at("chat", "bike");
  await page.fill("#composer", "My bike is blue.");
  await page.keyboard.press("Enter");
  await page.locator(".turn-user", { hasText: "My bike is blue." }).waitFor();
  await page.locator(".messages[aria-busy=false]").waitFor();
  await at("formation");
  await button("Form all now").click();
  const job = page.locator(".jobs li", { hasText: "failed attempt" });
  await job.waitFor();
  facts.tell("failing", await job.innerText());
  await settled("formation-failing");
  await button("Retry", job).click();
  await page.getByText("No messages wait to be formed.").waitFor();
  await page.goto(`${base}/#/memories?q=bike`);
  await page.locator(".row", { hasText: "bike" }).first().waitFor();
}

async function exportAndImport() {
  await at("settings");
  const [download] = await Promise.all([page.waitForEvent("download"), button("Export").click()]);
  const parts = [];
  for await (const part of await download.createReadStream()) parts.push(part);
  const written = Buffer.concat(parts).toString();
  facts.tell("exported", { name: download.suggestedFilename(), kinds: [...new Set(written.trim().split("\n").map((line) => JSON.parse(line).kind))].sort() });
  await page.goto(`${base}/#/settings?scope=copy`);
  await page.getByLabel("Choose files, or drop them here").setInputFiles({ name: "memory.jsonl", mimeType: "application/x-ndjson", buffer: Buffer.from(`${written}{"kind": "nonsense"}\n`) });
  await toast("rows taken").waitFor();
  await page.locator(".complaints li").waitFor();
  facts.tell("refused_line", await page.locator(".complaints").innerText());
  await settled("imported");
  await page.goto(`${base}/#/memories?scope=copy`);
  await page.locator(".row", { hasText: "bees" }).waitFor();
  facts.tell("copied", { rows: await page.locator(".row").count(), states: await page.locator(".row .badge").allInnerTexts() });
}

async function audit() {
  await page.goto(`${base}/#/settings?scope=copy`);
  await page.getByText("Latest rows").click();
  await page.locator(".fold tbody tr").first().waitFor();
  facts.tell("audit_of_copy", await page.locator(".fold tbody tr").allInnerTexts());
  await page.goto(`${base}/#/settings`);
  // Another scope's audit is folded, and its rows are there once it is opened.
  await page.locator("#audit .fold:not([open]) summary").click();
  await page.locator(".fold tbody tr", { hasText: "resume" }).or(page.locator(".fold tbody tr", { hasText: "messages added" })).first().waitFor();
  facts.tell("audit", await page.locator(".fold tbody tr").allInnerTexts());
  await button("Verify the chain").click();
  await toast("the chain is whole").waitFor();
  facts.tell("verified", await toast("the chain is whole").innerText());
  await settled("audit");
}

async function erase() {
  await page.goto(`${base}/#/settings`);
  await page.getByLabel("Thread", { exact: true }).fill("raise");
  await button("Preview").click();
  const dialog = page.locator("dialog");
  await dialog.locator(".counts").waitFor();
  facts.tell("erase_counts", await dialog.locator(".counts").innerText());
  await dialog.getByRole("textbox").fill("eras");
  facts.tell("erase_half_typed", await button("Erase for good", dialog).isDisabled());
  await dialog.getByRole("textbox").fill("Erase");
  await button("Erase for good", dialog).click();
  await toast("Erased: ").waitFor();
  const told_of = await toast("Erased: ").innerText();
  await dialog.waitFor({ state: "detached" });
  await toast("Erased: ").getByRole("link", { name: "See the receipt" }).click();
  const receipt = page.locator(".erase-receipts li", { has: page.locator("details[open]") });
  await receipt.waitFor();
  await page.waitForFunction(() => document.querySelector(".erase-receipts details[open]").getBoundingClientRect().top < innerHeight);
  facts.tell("erased", { toast: told_of, id: await receipt.locator("code").innerText(), said: await receipt.locator("summary").innerText(), receipt: await receipt.innerText(), thread: (await page.request.get(`${base}/v1/threads/raise`)).status() });
  await settled("erased");
  await at("memories");
  await page.locator(".row", { hasText: "bees" }).waitFor();
  facts.tell("left", await page.locator(".half-list").innerText());
}

await told({ review, dead, failed, exportAndImport, audit, erase }, { facts, page, noted, close });
