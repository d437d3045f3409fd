/** How long acts on a page take: until something is seen, the longest task meanwhile, and from an input to the next picture. */

/**
 * Have each change presented, as on a screen: without somebody who looks, a headless browser draws small changes late or never.
 *
 * An input would then seem to last until the next large change.
 */
async function presented(page) {
  const session = await page.context().newCDPSession(page);
  session.on("Page.screencastFrame", ({ sessionId }) => session.send("Page.screencastFrameAck", { sessionId }).catch(() => undefined));
  await session.send("Page.startScreencast", { format: "jpeg", quality: 1, maxWidth: 64, maxHeight: 64 });
}

/** Have long tasks of the page's own thread noted, and how long each input took until the next picture. */
export async function traced(page) {
  await presented(page);
  await page.addInitScript(() => {
    window.longTasks = [];
    window.inputs = [];
    new PerformanceObserver((list) => window.longTasks.push(...list.getEntries().map((each) => Math.round(each.duration)))).observe({ type: "longtask", buffered: true });
    new PerformanceObserver((list) => window.inputs.push(...list.getEntries().map((each) => Math.round(each.duration)))).observe({ type: "event", durationThreshold: 16, buffered: true });
  });
}

export class Timings {
  waits = {};
  tasks = {};

  constructor(page) {
    this.page = page;
  }

  /** How long an act takes until something is seen, and the longest task meanwhile, in ms. */
  async timed(name, act, there) {
    await this.page.evaluate(() => { window.longTasks = []; window.inputs = []; });
    const started = Date.now();
    await act();
    await there();
    this.waits[name] = Date.now() - started;
    const { longest, input } = await this.page.evaluate(async () => {
      await new Promise((done) => setTimeout(done, 120));
      return { longest: Math.max(0, ...window.longTasks), input: Math.max(0, ...window.inputs) };
    });
    this.tasks[name] = { longest_task_ms: longest, input_ms: input };
  }
}
