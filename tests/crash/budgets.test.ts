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
import { type Answer, type ModelServer, openModelServer, type RecordedRequest } from "../kit/model-server.ts";
import { findMain } from "../kit/processes.ts";
import { type Random, createRandom } from "../kit/random.ts";
import { getRepeatCount } from "../kit/sample.ts";
import { waitUntil } from "../kit/wait-until.ts";

const kills = getRepeatCount("kills", { sample: 12, full: 12 });
const killsPerRound = getRepeatCount("kills per round", { sample: 4, full: 4 });
const turns = getRepeatCount("budget turns", { sample: 500, full: 500 });
const spenders = 8;

/** The minimum reservation for a call. Calls that use no more never exceed their reservation. */
const reserved = { input: 250, output: 250 };
/** Usage far beyond any reservation. */
const excessive = { input: 3000, output: 1000 };

interface Round {
  name: string;
  budget: Budget;
  level: "agency" | "user";
  /** Maximum usage of a call. */
  maxUsage: typeof reserved;
  /** Returns by how much the limit may be exceeded, in units of the budget, while calls of that size are running. */
  computeOverrun(call: { input: number; output: number }): number;
}

const sumTokens = ({ input, output }: { input: number; output: number }) => input + output;
/** Dollars per million tokens, as configured below. */
const price = { input: 20, output: 80 };
const computeCost = ({ input, output }: { input: number; output: number }) =>
  (input * price.input + output * price.output) / 1_000_000;
const sumTokensOfAllSpenders = (call: { input: number; output: number }) => spenders * sumTokens(call);

const rounds: Round[] = [
  {
    name: "an agency's tokens",
    budget: { tokens: 40_000, per: "ever" },
    level: "agency",
    maxUsage: reserved,
    computeOverrun: sumTokens,
  },
  {
    name: "an agency's steps per day",
    budget: { steps: 150, per: "day" },
    level: "agency",
    maxUsage: excessive,
    computeOverrun: () => 0,
  },
  {
    name: "a user's tokens across two agencies",
    budget: { tokens: 40_000, per: "ever" },
    level: "user",
    maxUsage: reserved,
    computeOverrun: sumTokens,
  },
  {
    name: "an agency's cost per day",
    budget: { costUsd: 2, per: "day" },
    level: "agency",
    maxUsage: reserved,
    computeOverrun: computeCost,
  },
  {
    name: "an agency's tokens, with a model that uses far more than reserved",
    budget: { tokens: 300_000, per: "ever" },
    level: "agency",
    maxUsage: excessive,
    computeOverrun: sumTokensOfAllSpenders,
  },
];

let host: HostProcess;
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
  host = await startHostProcess({ home });
});

afterAll(async () => {
  await host?.stop();
  if (host) await removeHome(host.home);
  await server?.stop();
});

let titles = 0;

/**
 * A model with random usage up to a maximum, occasional failures of several kinds, and tool calls before its answer.
 */
function createUnreliableModel(random: Random, maxUsage: typeof reserved): (request: RecordedRequest) => Answer {
  return ({ results }) => {
    const usage = { input: 1 + random.below(maxUsage.input), output: 1 + random.below(maxUsage.output) };
    const delayMs = random.below(6);
    if (random.chance(0.08)) return { fault: { kind: "status", status: random.pick([429, 500]), retryAfter: 0 } };
    if (random.chance(0.04)) return { text: ["No", " more"], fault: { kind: "cut", phase: "text" }, delayMs };
    if (random.chance(0.04)) return { fault: { kind: "status", status: 400, message: "The provider says no." } };
    if (random.chance(results.length === 0 ? 0.5 : 0.2)) {
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
  const response = await fetch(host.url + path, {
    method,
    headers: {
      authorization: `Bearer ${host.token}`,
      ...(body === undefined ? {} : { "content-type": "application/json" }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(20_000),
  });
  const text = await response.text();
  return { status: response.status, body: text.startsWith("{") ? JSON.parse(text) : text };
}

/** Like `api`, but retries until main responds. */
const retryApi = <T>(path: string, method = "GET", body?: unknown): Promise<T> =>
  waitUntil(`${method} ${path}`, async () => {
    const response = await api<T>(path, method, body);
    return response.status < 300 || response.status === 409 ? response.body || ({} as T) : undefined;
  });

interface Spender {
  agency: string;
  name: string;
}

type Outcome = "completed" | "failed" | "refused";

/** Sends a message with an idempotency key until there is an outcome, however often main is killed meanwhile. */
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
      const message = body.error?.message ?? "";
      if (status === 409 && message.includes("budget")) return "refused";
      return status === 503 && !/host is (busy|stopping)/.test(message) ? "failed" : undefined;
    },
    { timeoutMs: 60_000 },
  );
}

test(
  `${turns} turns of ${spenders} concurrent agents stay within their budgets over ${kills} kills of main, and the usage totals match`,
  async () => {
    const random = createRandom("budgets");
    const tally = { turns: 0, refused: 0, failed: 0, calls: 0, kills: 0 };
    // Repeats all rounds until there were enough turns and kills.
    for (let number = 0; tally.turns < turns || tally.kills < kills || number % rounds.length !== 0; number++) {
      await playRound(rounds[number % rounds.length] as Round, number, random, tally);
    }
    console.log(
      `${tally.turns} turns, ${tally.refused} of them refused and ${tally.failed} failed, ${tally.calls} calls, ${tally.kills} kills`,
    );
    expect(tally.refused).toBeGreaterThan(0);
    expect(tally.failed).toBeGreaterThan(0);
  },
  Math.max(180_000, kills * 10_000),
);

async function playRound(round: Round, number: number, random: Random, tally: Record<string, number>): Promise<void> {
  server.answer(createUnreliableModel(random, round.maxUsage));
  const agencies = round.level === "user" ? [`r${number}-a`, `r${number}-b`] : [`r${number}`];
  for (const id of agencies) await retryApi("/agencies", "POST", { id });
  const all = Array.from({ length: spenders }, (_, index): Spender => ({
    agency: agencies[index % agencies.length] as string,
    name: `s${index}`,
  }));
  for (const { agency, name } of all)
    await retryApi(`/agency/${agency}/agents`, "POST", { name, model: "local:test-model" });
  // A user's budget also counts what was spent before.
  const before = await retryApi<UserUsage>("/user/usage");
  const spentBefore = round.level === "user" ? before.total.inputTokens + before.total.outputTokens : 0;
  const budget = { ...round.budget, ...(round.budget.tokens ? { tokens: round.budget.tokens + spentBefore } : {}) };
  const at = round.level === "user" ? "/user/budget" : `/agency/${agencies[0]}/budget`;
  await retryApi(at, "PUT", budget);

  let isOver = false;
  const spending = all.map(async (spender, index) => {
    // A single refusal may be due to the reservations of others, so each agent tries a few times.
    for (let turn = 0, refusals = 0; refusals < 3; turn++) {
      const outcome = await sendMessage(spender, `r${number}-s${index}-${turn}`);
      tally.turns = (tally.turns ?? 0) + 1;
      if (outcome === "refused") refusals++;
      if (outcome !== "completed") tally[outcome] = (tally[outcome] ?? 0) + 1;
    }
  });
  const killing = (async () => {
    for (let kill = 0; kill < killsPerRound && !isOver; kill++) {
      // Main has to respond in between, or the daemon's backoff would grow.
      await retryApi("/who");
      await sleep(random.below(400));
      await killMain();
      tally.kills = (tally.kills ?? 0) + 1;
    }
  })();
  await Promise.all(spending);
  isOver = true;
  await killing;

  // One more kill, and no further requests to the agents: reservations have to be released by themselves.
  await killMain();
  const settled = await waitUntil("all reservations to be released", async () => {
    const { statuses } = await retryApi<BudgetResponse>(at);
    return statuses.length > 0 && statuses.every(({ reserved }) => reserved === 0) ? statuses : undefined;
  });
  await expectBalanced(agencies, all, before, tally);
  const spent = settled[0]?.spent ?? 0;
  const limit = settled[0]?.limit ?? 0;
  expect([round.name, spent >= limit * 0.8]).toEqual([round.name, true]);
  const allowed = limit + round.computeOverrun(round.maxUsage);
  expect(spent, `${round.name}: ${spent} of ${limit}, at most ${allowed}`).toBeLessThanOrEqual(allowed);
  await retryApi(at, "DELETE");
}

let killed = 0;

async function killMain(): Promise<void> {
  const main = await waitUntil("main to run", () => findMain(host.home, killed));
  killed = main.pid;
  process.kill(main.pid, "SIGKILL");
}

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** The usage in each agent's log matches its own totals, those of its agency and those of the user. */
async function expectBalanced(
  agencies: string[],
  all: Spender[],
  before: UserUsage,
  tally: Record<string, number>,
): Promise<void> {
  const sums = new Map<string, Figures>();
  for (const agency of agencies) {
    const logged: [string, Figures][] = [];
    for (const { name } of all.filter((spender) => spender.agency === agency)) {
      const { events, usage } = await retryApi<AgentExport>(`/agency/${agency}/agent/${name}/export`);
      const figures = readFigures(events);
      expectSame(usage.total, figures, `${name}'s own total`);
      logged.push([name, figures]);
    }
    const usage = await waitUntil(`all reports to ${agency}`, async () => {
      const usage = await retryApi<AgencyUsage>(`/agency/${agency}/usage`);
      return usage.total.calls === sumFigures(logged).calls && usage;
    });
    for (const [name, figures] of logged) {
      const share = usage.byAgent.find(({ agent }) => agent === name);
      if (figures.calls > 0) expectSame(share, figures, `${name} in the totals of ${agency}`);
    }
    expectSame(usage.total, sumFigures(logged), `the total of ${agency}`);
    for (const day of usage.byDay)
      expectSame(day, sumFigures(day.byModel.map((used) => [used.model, used])), `${day.day} of ${agency}`);
    sums.set(agency, sumFigures(logged));
    tally.calls = (tally.calls ?? 0) + sumFigures(logged).calls;
  }
  const user = await waitUntil("all reports to the user", async () => {
    const user = await retryApi<UserUsage>("/user/usage");
    return user.total.calls === before.total.calls + sumFigures([...sums]).calls && user;
  });
  for (const [agency, sum] of sums)
    expectSame(
      user.byAgency.find((share) => share.agency === agency),
      sum,
      `${agency} in the user's totals`,
    );
  expectSame(user.total, sumFigures([["before", before.total], ...sums]), "the user's total");
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

function expectSame(actual: Figures | undefined, expected: Figures, name: string): void {
  expect([name, actual?.calls, actual?.inputTokens, actual?.outputTokens]).toEqual([
    name,
    expected.calls,
    expected.inputTokens,
    expected.outputTokens,
  ]);
  expect(actual?.costUsd, name).toBeCloseTo(expected.costUsd ?? Number.NaN, 9);
}
