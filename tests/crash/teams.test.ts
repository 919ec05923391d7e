import type { ChannelMessage, InboxItem, WorkflowRun } from "@thinkery/sdk";
import { afterAll, beforeAll, expect, test } from "vitest";
import { crashScripts, createCrewWorkflow, crew, findProblems, type Remains } from "../kit/crashing-team.ts";
import { findMain } from "../kit/processes.ts";
import { createRandom, type Random } from "../kit/random.ts";
import { getRepeatCount } from "../kit/sample.ts";
import { waitUntil } from "../kit/wait-until.ts";
import { openTestbed, type Testbed } from "../kit/worker/testbed.ts";

// The host dies again and again while five agents write to each other, put things off, fail, claim tasks and change a
// document. Each message is there once, each inbox item is handled once or given up, and the run ends.

const kills = getRepeatCount("team kills", { sample: 12, full: 100 });
const silentKills = getRepeatCount("silent team kills", { sample: 3, full: 30 });
const maxKillsPerRun = 8;
const maxAttempts = 4;
const timeoutMs = 90_000;

let testbed: Testbed;

const pass = (next: string) => ({
  call: { tool: "channel_send", input: { message: `@${next}, pass it on.` } },
});

beforeAll(async () => {
  testbed = await openTestbed({
    config: {
      maxFailuresPerMinute: 100_000,
      sandboxSlots: 0,
      turn: { heartbeatSeconds: 1, maxCrashes: 20, maxAttempts: 20 },
    },
    scripts: {
      ...crashScripts,
      first: [{ steps: [pass("second"), { text: "Passed on." }] }],
      second: [{ steps: [pass("third"), { text: "Passed on." }] }],
      third: [
        { steps: [{ call: { tool: "ring_again", input: { bell: "BELL", id: "it arrived" } } }, { text: "Rung." }] },
      ],
    },
  });
}, 60_000);

afterAll(() => testbed?.stop());

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Sends a request until there is a response. Returns whether one was lost on the way. */
async function insist(path: string, method = "GET", body?: object) {
  for (let isRepeated = false; ; isRepeated = true) {
    const response = await testbed.api(path, method, body).catch(() => undefined);
    if (response && response.status < 500) return { ...response, isRepeated };
    await sleep(20);
  }
}

/** Kills main, or now and then the daemon with everything. */
async function kill(random: Random): Promise<void> {
  if (random.chance(0.1)) {
    const { daemon } = testbed.host();
    const gone = new Promise((resolve) => daemon.once("exit", resolve));
    daemon.kill("SIGKILL");
    await gone;
    await testbed.startHost();
    return;
  }
  const main = await waitUntil("main to run", () => findMain(testbed.home));
  process.kill(main.pid, "SIGKILL");
  await waitUntil("main to be gone", () => findMain(testbed.home)?.pid !== main.pid);
}

async function readRun(agency: string): Promise<WorkflowRun> {
  return (await insist(`/agency/${agency}/workflow`)).body;
}

/** Posts messages to the team while it works, each until there is a response. Returns them as they were accepted. */
async function interfere(agency: string, random: Random, isOver: () => boolean): Promise<ChannelMessage[]> {
  const posted: ChannelMessage[] = [];
  for (let number = 0; !isOver() && number < 6; number++) {
    await sleep(random.below(600));
    const [agent] = random.shuffle(crew.filter((name) => name !== "later" && name !== "flaky"));
    const body = { content: `@${agent}, one more: ${number}`, idempotencyKey: `more-${number}` };
    const { status, body: message } = await insist(`/agency/${agency}/channels/general/messages`, "POST", body);
    expect(status).toBe(201);
    posted.push(message);
  }
  return posted;
}

async function isQuiet(agency: string): Promise<boolean> {
  for (const agent of crew)
    if ((await insist(`/agency/${agency}/inbox/${agent}?status=open`)).body.items.length > 0) return false;
  return true;
}

async function collectRemains(agency: string): Promise<Remains> {
  const at = `/agency/${agency}`;
  const items: Remains["items"] = {};
  const logs: Remains["logs"] = {};
  for (const agent of crew) {
    items[agent] = (await insist(`${at}/inbox/${agent}?status=all&limit=500`)).body.items as InboxItem[];
    logs[agent] = await testbed.agentAt(`${at}/agent/${agent}`, agent).log();
  }
  const { messages } = (await insist(`${at}/channels/general/messages?limit=500`)).body;
  const { tasks } = (await insist(`${at}/tasks?limit=500`)).body;
  const text = (await testbed.host().client.documents(agency).read("log.md")).text();
  return { messages, items, logs, tasks, lines: text.trimEnd().split("\n"), maxAttempts };
}

async function runUnderKills(number: number, killCount: number, random: Random): Promise<string> {
  const isHopeless = random.chance(0.25);
  const workflow = createCrewWorkflow("crew", isHopeless);
  const agency = `crew:r${number}`;
  const request = { workflow, tag: `r${number}`, idempotencyKey: `run-${number}` };
  const starting = insist("/workflow-runs", "POST", request);
  let isOver = false;
  const killing = (async () => {
    for (let index = 0; index < killCount; index++) {
      await sleep(random.below(500));
      await kill(random);
    }
  })();
  const { status } = await starting;
  expect([number, status]).toEqual([number, 202]);
  await insist(`/agency/${agency}`, "PATCH", { settings: { backoffSeconds: 0.2, maxAttempts } });
  const interfering = interfere(agency, random, () => isOver);
  await killing;
  const run = await waitUntil(
    `run ${number} to end`,
    async () => {
      const latest = await readRun(agency);
      return latest.status !== "running" && latest;
    },
    { timeoutMs },
  ).finally(() => (isOver = true));
  const posted = await interfering;
  // What was posted after the end is handled as well. Twice, because who is done may have written to who was looked at.
  for (let pass = 0; pass < 2; pass++)
    await waitUntil(`run ${number} to be quiet`, () => isQuiet(agency), { timeoutMs });
  const remains = await collectRemains(agency);
  const label = `run ${number}, ${killCount} kills`;
  expect([label, findProblems(remains)]).toEqual([label, []]);

  for (const { id, content } of posted) {
    const same = remains.messages.filter((message) => message.content === content);
    expect([label, same.map((message) => message.id)]).toEqual([label, [id]]);
  }
  expect([label, remains.messages.filter(({ content }) => content === workflow.kickoff).length]).toEqual([label, 1]);
  const expected = isHopeless
    ? { status: "failed", reason: "given_up", message: expect.stringContaining("flaky could not handle") }
    : { status: "completed" };
  expect([label, run]).toEqual([label, expect.objectContaining(expected)]);
  const isKnown = async () =>
    ((await insist("/workflow-runs?limit=500")).body.runs as WorkflowRun[]).find((known) => known.agency === agency)
      ?.status === run.status;
  await waitUntil(`${label}: the user to know the run`, isKnown);
  const count = (status: InboxItem["status"]) =>
    Object.values(remains.items)
      .flat()
      .filter((item) => item.status === status).length;
  return `${label}: ${run.status}, ${count("acked")} items handled, ${count("given_up")} given up`;
}

test(
  `a team of five works under ${kills} kills: each message once, each item handled once or given up, and the run ends`,
  async () => {
    const random = createRandom("teams");
    for (let number = 0, left = kills; left > 0; number++) {
      const killCount = Math.min(left, 1 + random.below(maxKillsPerRun));
      console.log(await runUnderKills(number, killCount, random));
      left -= killCount;
    }
  },
  Math.max(180_000, kills * 15_000),
);

test(
  `a message goes from agent to agent although nobody looks, over ${silentKills} kills`,
  async () => {
    const random = createRandom("silent teams");
    await insist("/agencies", "POST", { id: "silent" });
    for (const name of ["first", "second", "third"])
      await insist("/agency/silent/agents", "POST", { name, model: `scripted:${name}` });
    for (let number = 0; number < silentKills; number++) {
      testbed.bell.rings.length = 0;
      await insist("/agency/silent/channels/general/messages", "POST", { content: "@first, pass it on." });
      await sleep(random.below(80));
      await kill(random);
      // No request wakes the agency: its own alarms have to.
      await waitUntil(`ring ${number}`, () => testbed.bell.rings.length > 0, { timeoutMs: 40_000 });
    }
  },
  Math.max(180_000, silentKills * 15_000),
);
