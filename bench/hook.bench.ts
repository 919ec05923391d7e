import type { Browser } from "playwright-core";
import { openBrowser } from "../tests/kit/browser.ts";
import { waitForConnection, readLastText, send } from "../tests/kit/think-page-actions.ts";
import { type Frontend, openFrontend } from "../tests/kit/think-page.ts";
import { waitUntil } from "../tests/kit/wait-until.ts";
import type { Bench, Finding } from "./kit/bench.ts";
import { openHostSubject } from "./kit/host-subject.ts";
import { startModelServer } from "./kit/model.ts";

const deltas = 2_000;
const rounds = 5;
/** Longer tasks are noticeable while typing or scrolling; browsers call them long tasks. */
const goal = 50;

/** How the deltas arrive: as fast as they can be written, or at the speed of a fast model. */
const models = { "all at once": `zero-${deltas}`, "500 a second": `paced-500-${deltas / 500}` };

export const hook: Bench = {
  name: "hook",
  about: `one turn of ${deltas} deltas into a page that uses the React hook, in a real browser`,
  async run() {
    const server = await startModelServer();
    const { host, create } = await openHostSubject(server.base);
    const [front, browser] = [await openFrontend(host), await openBrowser()];
    const findings: Finding[] = [];
    for (const [how, model] of Object.entries(models)) {
      const samples: number[] = [];
      for (let round = 0; round < rounds; round++) {
        const agent = `${model}-${round}`;
        await create(agent, model);
        samples.push(await measureLongestTask(browser, front, agent));
      }
      findings.push({
        what: `longest task, ${how}`,
        unit: "ms",
        samples: { [how]: samples },
        figure: Math.max(...samples),
        goal,
      });
    }
    await browser.close();
    front.stop();
    await host.stop();
    await server.stop();
    return findings;
  },
};

/**
 * Returns the milliseconds of the longest task of the page's main thread, from the message to the end of the answer.
 */
async function measureLongestTask(browser: Browser, front: Frontend, agent: string): Promise<number> {
  const page = await browser.newPage();
  await page.goto(`${front.url}/?agent=${agent}`);
  await waitForConnection(page);
  await browser.startTracing(page, { categories: ["toplevel"] });
  await send(page, "Go.");
  await page.locator('main[data-status="idle"] li[data-role="assistant"][data-stage="done"]').last().waitFor();
  await waitUntil("every word", async () => (await readLastText(page)).trim().split(" ").length === deltas);
  const trace = (await browser.stopTracing()).toString();
  await page.close();
  return Math.max(...readTaskDurations(JSON.parse(trace) as Trace));
}

interface Trace {
  traceEvents: { name: string; ph: string; tid: number; dur?: number; args: { name?: string } }[];
}

/** Returns the duration of each task of a page's main thread. The browser's own list has only the long ones. */
function readTaskDurations({ traceEvents }: Trace): number[] {
  const mainThreads = new Set(
    traceEvents
      .filter(({ name, args }) => name === "thread_name" && args.name === "CrRendererMain")
      .map(({ tid }) => tid),
  );
  const tasks = traceEvents.filter(({ name, tid }) => name === "ThreadControllerImpl::RunTask" && mainThreads.has(tid));
  if (tasks.length < deltas / 100) throw new Error(`The browser's trace contains only ${tasks.length} tasks.`);
  return tasks.map(({ dur = 0 }) => dur / 1000);
}
