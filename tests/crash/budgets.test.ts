import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import {
  type AgencyUsage,
  type AgentEvent,
  type AgentExport,
  type Budget,
  type BudgetResponse,
  type UserUsage,
} from "@thinkery/sdk";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createHomePath, type HostProcess, startHostProcess, removeHome } from "../kit/host-process.ts";
import { type Answer, type ModelServer, openModelServer, type SeenRequest } from "../kit/model-server.ts";
import { findMain } from "../kit/processes.ts";
import { type Random, createRandom } from "../kit/random.ts";
import { getRepeatCount } from "../kit/sample.ts";
import { waitUntil } from "../kit/wait-until.ts";

const kills = getRepeatCount("kills", { sample: 12, full: 12 });
const killsPerRound = getRepeatCount("kills per round", { sample: 4, full: 4 });
const turns = getRepeatCount("budget turns", { sample: 500, full: 500 });
const spenders = 8;

/** A call is taken to use so many tokens at least. Calls that use no more are never over what was set aside for them. */
const setAside = { input: 250, output: 250 };
/** Calls that use whatever they like, far more than anybody would have thought. */
const wild = { input: 3000, output: 1000 };

interface Round {
  what: string;
  budget: Budget;
  /** Whose it is. */
  level: "agency" | "user";
  most: typeof setAside;
  /** How far over the limit it may be, in its own kind, for a call of that size under way. */
  over(call: { input: number; output: number }): number;
}

const sumTokens = ({ input, output }: { input: number; output: number }) => input + output;
/** As it is configured below, for a million. */
const price = { input: 20, output: 80 };
const computeCost = ({ input, output }: { input: number; output: number }) =>
  (input * price.input + output * price.output) / 1_000_000;
const sumTokensOfAll = (call: { input: number; output: number }) => spenders * sumTokens(call);

const rounds: Round[] = [
  {
    what: "an agency's tokens",
    budget: { tokens: 40_000, per: "ever" },
    level: "agency",
    most: setAside,
    over: sumTokens,
  },
  {
    what: "an agency's steps of a day",
    budget: { steps: 150, per: "day" },
    level: "agency",
    most: wild,
    over: () => 0,
  },
  {
    what: "a user's tokens over two agencies",
    budget: { tokens: 40_000, per: "ever" },
    level: "user",
    most: setAside,
    over: sumTokens,
  },
  {
    what: "an agency's cost of a day",
    budget: { costUsd: 2, per: "day" },
    level: "agency",
    most: setAside,
    over: computeCost,
  },
  {
    what: "an agency's tokens, and a model that uses far more than was set aside",
    budget: { tokens: 300_000, per: "ever" },
    level: "agency",
    most: wild,
    over: sumTokensOfAll,
  },
];

let house: HostProcess;
let server: ModelServer;

beforeAll(async () => {
  server = await openModelServer();
  const home = await createHomePath();
  await mkdir(home, { mode: 0o700 });
  const config = {
    maxFailuresPerMinute: 100_000,
    sandboxSlots: 0,
    providers: { local: { baseUrl: `${server.url}/v1` } },
    prices: { "local:test-model": price },
    turn: { heartbeatSeconds: 1, maxCrashes: 20, maxAttempts: 20 },
  };
  await writeFile(join(home, "config.jsonc"), JSON.stringify(config));
  house = await startHostProcess({ home });
});

afterAll(async () => {
  await house?.stop();
  if (house) await removeHome(house.home);
  await server?.stop();
});

let titles = 0;

/** Uses what it likes up to a size, fails now and then in its own ways, and asks for a tool before it answers. */
function createMoodyModel(chance: Random, most: typeof setAside): (request: SeenRequest) => Answer {
  return ({ results }) => {
    const usage = { input: 1 + chance.below(most.input), output: 1 + chance.below(most.output) };
    const delayMs = chance.below(6);
    if (chance.chance(0.08)) return { fault: { kind: "status", status: chance.pick([429, 500]), retryAfter: 0 } };
    if (chance.chance(0.04)) return { text: ["No", " more"], fault: { kind: "cut", phase: "text" }, delayMs };
    if (chance.chance(0.04)) return { fault: { kind: "status", status: 400, message: "The provider says no." } };
    if (chance.chance(results.length === 0 ? 0.5 : 0.2)) {
      return {
        text: "Noted.",
        toolCalls: [{ name: "set_title", input: { title: `title ${++titles}` } }],
        usage,
        delayMs,
      };
    }
    return { text: ["Some", " words", "."], usage, delayMs };
  };
}

async function api<T>(path: string, method = "GET", body?: unknown): Promise<{ status: number; body: T }> {
  const response = await fetch(house.url + path, {
    method,
    headers: {
      authorization: `Bearer ${house.token}`,
      ...(body === undefined ? {} : { "content-type": "application/json" }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(20_000),
  });
  const text = await response.text();
  return { status: response.status, body: text.startsWith("{") ? JSON.parse(text) : text };
}

/** The same, asked again until main is there. */
const retryApi = <T>(path: string, method = "GET", body?: unknown): Promise<T> =>
  waitUntil(`${method} ${path}`, async () => {
    const answer = await api<T>(path, method, body);
    return answer.status < 300 || answer.status === 409 ? answer.body || ({} as T) : undefined;
  });

interface Spender {
  agency: string;
  name: string;
}

type Outcome = "completed" | "failed" | "refused";

/** Says something with a key of its own until there is an outcome, however often main dies meanwhile. */
async function sendMessage({ agency, name }: Spender, key: string): Promise<Outcome> {
  return waitUntil(
    `the outcome of ${key}`,
    async (): Promise<Outcome | undefined> => {
      const { status, body } = await api<{ error?: { message: string } }>("/serve", "POST", {
        agent: `${name}@${agency}`,
        message: key,
        idempotencyKey: key,
      });
      if (status === 200) return "completed";
      const why = body.error?.message ?? "";
      if (status === 409 && why.includes("budget")) return "refused";
      return status === 503 && !/host is (busy|stopping)/.test(why) ? "failed" : undefined;
    },
    { within: 60_000 },
  );
}

test(
  `${turns} turns of ${spenders} agents at once stay within their budgets over ${kills} kills of main, and the books balance`,
  async () => {
    const chance = createRandom("budgets");
    const tally = { turns: 0, refused: 0, failed: 0, calls: 0, kills: 0 };
    // Every round once, and all of them again until it is enough.
    for (let number = 0; tally.turns < turns || tally.kills < kills || number % rounds.length !== 0; number++) {
      await playRound(rounds[number % rounds.length] as Round, number, chance, tally);
    }
    console.log(
      `${tally.turns} turns, ${tally.refused} of them refused and ${tally.failed} failed, ${tally.calls} calls, ${tally.kills} kills`,
    );
    expect(tally.refused).toBeGreaterThan(0);
    expect(tally.failed).toBeGreaterThan(0);
  },
  Math.max(180_000, kills * 10_000),
);

async function playRound(round: Round, number: number, chance: Random, tally: Record<string, number>): Promise<void> {
  server.answer(createMoodyModel(chance, round.most));
  const agencies = round.level === "user" ? [`r${number}-a`, `r${number}-b`] : [`r${number}`];
  for (const id of agencies) await retryApi("/agencies", "POST", { id });
  const all = Array.from({ length: spenders }, (_, index): Spender => ({
    agency: agencies[index % agencies.length] as string,
    name: `s${index}`,
  }));
  for (const { agency, name } of all)
    await retryApi(`/agency/${agency}/agents`, "POST", { name, model: "local:test-model" });
  // A user's budget counts everything that was spent before.
  const before = await retryApi<UserUsage>("/user/usage");
  const spentBefore = round.level === "user" ? before.total.inputTokens + before.total.outputTokens : 0;
  const budget = { ...round.budget, ...(round.budget.tokens ? { tokens: round.budget.tokens + spentBefore } : {}) };
  const at = round.level === "user" ? "/user/budget" : `/agency/${agencies[0]}/budget`;
  await retryApi(at, "PUT", budget);

  let over = false;
  const spending = all.map(async (spender, index) => {
    // Refused once may be for what others had set aside; so each tries a few times.
    for (let turn = 0, refusals = 0; refusals < 3; turn++) {
      const outcome = await sendMessage(spender, `r${number}-s${index}-${turn}`);
      tally.turns = (tally.turns ?? 0) + 1;
      if (outcome === "refused") refusals++;
      if (outcome !== "completed") tally[outcome] = (tally[outcome] ?? 0) + 1;
    }
  });
  const killing = (async () => {
    for (let kill = 0; kill < killsPerRound && !over; kill++) {
      // One that never gets to answer is let wait longer and longer by the daemon.
      await retryApi("/who");
      await sleep(chance.below(400));
      await killMain();
      tally.kills = (tally.kills ?? 0) + 1;
    }
  })();
  await Promise.all(spending);
  over = true;
  await killing;

  // One more, and nobody asks anything of the agents: what is set aside has to come back by itself.
  await killMain();
  const settled = await waitUntil("nothing to be set aside", async () => {
    const { statuses } = await retryApi<BudgetResponse>(at);
    return statuses.length > 0 && statuses.every(({ reserved }) => reserved === 0) ? statuses : undefined;
  });
  await expectBalanced(agencies, all, before, tally);
  const spent = settled[0]?.spent ?? 0;
  const limit = settled[0]?.limit ?? 0;
  expect([round.what, spent >= limit * 0.8]).toEqual([round.what, true]);
  const allowed = limit + round.over(round.most);
  expect(spent, `${round.what}: ${spent} of ${limit}, and ${allowed} at most`).toBeLessThanOrEqual(allowed);
  await retryApi(at, "DELETE");
}

let killed = 0;

async function killMain(): Promise<void> {
  const main = await waitUntil("main to live", () => findMain(house.home, killed));
  killed = main.pid;
  process.kill(main.pid, "SIGKILL");
}

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** What each agent's log says is what it says itself, what its agency says of it, and what the user's books say of that. */
async function expectBalanced(
  agencies: string[],
  all: Spender[],
  before: UserUsage,
  tally: Record<string, number>,
): Promise<void> {
  const sums = new Map<string, Figures>();
  for (const agency of agencies) {
    const truths: [string, Figures][] = [];
    for (const { name } of all.filter((spender) => spender.agency === agency)) {
      const { events, usage } = await retryApi<AgentExport>(`/agency/${agency}/agent/${name}/export`);
      const truth = readFigures(events);
      expectSame(usage.total, truth, `${name}'s own sum`);
      truths.push([name, truth]);
    }
    const usage = await waitUntil(`${agency} to have heard all`, async () => {
      const usage = await retryApi<AgencyUsage>(`/agency/${agency}/usage`);
      return usage.total.calls === sumFigures(truths).calls && usage;
    });
    for (const [name, truth] of truths) {
      const share = usage.byAgent.find(({ agent }) => agent === name);
      if (truth.calls > 0) expectSame(share, truth, `${name} in the books of ${agency}`);
    }
    expectSame(usage.total, sumFigures(truths), `the sum of ${agency}`);
    for (const day of usage.byDay)
      expectSame(day, sumFigures(day.byModel.map((used) => [used.model, used])), `${day.day} of ${agency}`);
    sums.set(agency, sumFigures(truths));
    tally.calls = (tally.calls ?? 0) + sumFigures(truths).calls;
  }
  const user = await waitUntil("the user to have heard all", async () => {
    const user = await retryApi<UserUsage>("/user/usage");
    return user.total.calls === before.total.calls + sumFigures([...sums]).calls && user;
  });
  for (const [agency, sum] of sums)
    expectSame(
      user.byAgency.find((share) => share.agency === agency),
      sum,
      `${agency} in the user's books`,
    );
  expectSame(user.total, sumFigures([["before", before.total], ...sums]), "the user's sum");
}

interface Figures {
  calls: number;
  inputTokens: number;
  outputTokens: number;
  costUsd: number | null;
}

function readFigures(events: AgentEvent[]): Figures {
  return sumFigures(
    events.flatMap((event) =>
      event.type === "model.completed" ? [["", { calls: 1, ...event.data.usage }] as [string, Figures]] : [],
    ),
  );
}

function sumFigures(all: [string, Figures][]): Figures {
  const sum = (pick: (figures: Figures) => number | null) =>
    all.reduce((sum, [, figures]) => sum + (pick(figures) ?? Number.NaN), 0);
  return {
    calls: sum(({ calls }) => calls),
    inputTokens: sum(({ inputTokens }) => inputTokens),
    outputTokens: sum(({ outputTokens }) => outputTokens),
    costUsd: sum(({ costUsd }) => costUsd),
  };
}

function expectSame(seen: Figures | undefined, due: Figures, what: string): void {
  expect([what, seen?.calls, seen?.inputTokens, seen?.outputTokens]).toEqual([
    what,
    due.calls,
    due.inputTokens,
    due.outputTokens,
  ]);
  expect(seen?.costUsd, what).toBeCloseTo(due.costUsd ?? Number.NaN, 9);
}
