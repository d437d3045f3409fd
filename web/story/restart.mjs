/** A service that `--open` opens is started anew: node restart.mjs COMMAND FOLDER CHROMIUM, the command as JSON. Facts go to standard output. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { openBrowser, watched } from "./browser.mjs";
import { audited, told } from "./chapters.mjs";
import { Facts } from "./facts.mjs";

const [command, folder, chromium] = process.argv.slice(2);
const facts = new Facts(folder);
const { browser, close } = await openBrowser(chromium);

let service;
/** Start the service; give the address that its terminal shows. */
async function started() {
  const [program, ...options] = JSON.parse(command);
  service = spawn(program, options, { stdio: ["ignore", "pipe", "inherit"] });
  let seen = "";
  for await (const part of service.stdout) {
    seen += part;
    const [, address] = /signed in until this ends: (http\S+#key=rk_[\w-]+)\s/.exec(seen) ?? [];
    if (address) {
      service.stdout.resume();
      return address;
    }
  }
  throw new Error(`the service told no address: ${seen}`);
}

async function stopped() {
  const ended = once(service, "exit");
  service.kill("SIGTERM");
  await ended;
}

let address = await started();
const base = new URL(address).origin;
const { page, noted } = await watched(browser, base);
const key = (tab) => tab.getByLabel("Key", { exact: true });
const TYPED = "Typed before the restart.";

/** Signed in without a question, with a draft in a talk. */
async function opened() {
  await page.goto(address);
  await page.locator(".first-steps").waitFor();
  await page.goto(`${base}/#/chat/talk`);
  await page.fill("#composer", TYPED);
  facts.tell("opened", { questions: await key(page).count(), hash: await page.evaluate(() => location.hash) });
}

/** The tab that was open says what to do, until the address is opened in another tab; then it goes on. */
async function inAnotherTab() {
  await stopped();
  await page.locator(".cut-off").waitFor();
  address = await started();
  await key(page).waitFor();
  const asked = await page.locator(".ask-key").innerText();
  await facts.picture(page, "asked");
  await audited(page, facts, "asked for a key");
  const { page: other } = await watched(browser, base);
  await other.goto(address);
  await other.locator(".first-steps").waitFor();
  await page.locator("#composer").waitFor();
  facts.tell("another_tab", { asked, questions: await key(other).count(), draft: await page.inputValue("#composer"), hash: await page.evaluate(() => location.hash) });
  await other.close();
}

/** The address is opened in the tab that shows the page already, which the browser does not load again. */
async function inTheSameTab() {
  await stopped();
  address = await started();
  await key(page).waitFor();
  await page.goto(address);
  await page.locator("#composer").waitFor();
  facts.tell("same_tab", { draft: await page.inputValue("#composer"), hash: await page.evaluate(() => location.hash) });
}

/** A tab without a key gets that of the tab that was opened signed in; one in which it was given up does not. */
async function withoutKey() {
  const { page: other } = await watched(browser, base);
  await other.goto(`${base}/#/settings`);
  await other.locator(".facts").first().waitFor();
  await other.getByRole("button", { name: "Forget the key in this tab" }).click();
  await key(other).waitFor();
  await other.waitForTimeout(500);
  facts.tell("without_key", { left: await key(other).count() });
  await key(other).fill(`the page: ${address}`);
  await other.keyboard.press("Enter");
  await other.locator(".facts").first().waitFor();
  await other.close();
}

await told({ opened, inAnotherTab, inTheSameTab, withoutKey }, { facts, page, noted, close: async () => { await close(); await stopped(); } });
