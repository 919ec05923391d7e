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
/** A task that takes longer than this is felt by whoever types or scrolls meanwhile; browsers call it a long task. */
const goal = 50;

/** How the deltas come: as fast as they can be written, or as a fast model says them. */
const models = { "all at once": `zero-${deltas}`, "500 a second": `paced-500-${deltas / 500}` };

export const hook: Bench = {
  name: "hook",
  about: `one turn of ${deltas} deltas into a page that uses the React hook, in a real browser`,
  async run() {
    const server = await startModelServer();
    const { house, create } = await openHostSubject(server.base);
    const [front, browser] = [await openFrontend(house), await openBrowser()];
    const findings: Finding[] = [];
    for (const [how, model] of Object.entries(models)) {
      const samples: number[] = [];
      for (let round = 0; round < rounds; round++) {
        const agent = `${model}-${round}`;
        await create(agent, model);
        samples.push(await longestTask(browser, front, agent));
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
    await house.stop();
    await server.stop();
    return findings;
  },
};

/** Milliseconds of the longest task of the page's main thread, from the question to the end of the answer. */
async function longestTask(browser: Browser, front: Frontend, agent: string): Promise<number> {
  const page = await browser.newPage();
  await page.goto(`${front.url}/?agent=${agent}`);
  await waitForConnection(page);
  await browser.startTracing(page, { categories: ["toplevel"] });
  await send(page, "Go.");
  await page.locator('main[data-status="idle"] li[data-role="assistant"][data-stage="done"]').last().waitFor();
  await waitUntil("every word", async () => (await readLastText(page)).trim().split(" ").length === deltas);
  const trace = (await browser.stopTracing()).toString();
  await page.close();
  return Math.max(...tasksIn(JSON.parse(trace) as Trace));
}

interface Trace {
  traceEvents: { name: string; ph: string; tid: number; dur?: number; args: { name?: string } }[];
}

/** How long each task of a page's main thread took. The browser's own list has only those that took too long. */
function tasksIn({ traceEvents }: Trace): number[] {
  const mains = new Set(
    traceEvents
      .filter(({ name, args }) => name === "thread_name" && args.name === "CrRendererMain")
      .map(({ tid }) => tid),
  );
  const tasks = traceEvents.filter(({ name, tid }) => name === "ThreadControllerImpl::RunTask" && mains.has(tid));
  if (tasks.length < deltas / 100) throw new Error(`The browser's trace tells of ${tasks.length} tasks only.`);
  return tasks.map(({ dur = 0 }) => dur / 1000);
}
