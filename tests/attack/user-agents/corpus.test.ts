import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { agentCapabilities } from "@thinkery/sdk";
import { type Client, createClient } from "@thinkery/sdk/client";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { HostProcess } from "../../kit/host-process.ts";
import { sample } from "../../kit/sample.ts";
import { deployAgent, startAgentHost } from "../../kit/user-agent.ts";
import type { Attempt } from "../sandbox/attempt.ts";
import { capabilities } from "../sandbox/attempts/capabilities.ts";
import { generation } from "../sandbox/attempts/generation.ts";
import { modules } from "../sandbox/attempts/modules.ts";
import { network } from "../sandbox/attempts/network.ts";
import { hungry, oversized, spinning } from "../sandbox/attempts/resources.ts";
import { runs } from "../sandbox/attempts/runs.ts";
import { secrets } from "../sandbox/attempts/secrets.ts";
import { openTrap } from "../sandbox/code-testbed.ts";
import { createAttemptAgent, isHandler } from "./attempt-agent.ts";

// The programs that try to break out of the sandbox, as the code of user agents: once with no capability, and once with
// all of them.

/** Attempts by family, with the size of their sample. */
const families: Record<string, { attempts: readonly Attempt[]; size: number }> = {
  network: { attempts: network, size: 12 },
  modules: { attempts: modules, size: 12 },
  secrets: { attempts: secrets, size: 12 },
  generation: { attempts: generation, size: 8 },
  capabilities: { attempts: capabilities, size: 12 },
  runs: { attempts: runs, size: 8 },
  oversized: { attempts: oversized, size: 6 },
  spinning: { attempts: spinning, size: 1 },
  hungry: { attempts: hungry, size: 1 },
};

/** What user agents may do, unlike code that an agent runs. */
const allowed = new Set([
  // Modules of the platform have nothing in an isolate without bindings; see bridge.test.ts.
  "import of node:async_hooks",
  "patched built-ins of the guard",
  "the guard's list on Object.prototype",
  // A call of its own, with the policy of all calls.
  "code that runs code",
  // It may log while its turn lasts; see bridge.test.ts for what comes after that.
  "a timer, left",
]);

const all = Object.entries(families).map(([family, { attempts, size }]): [string, readonly Attempt[]] => {
  const handlers = attempts.filter((attempt) => isHandler(attempt) && !allowed.has(attempt.name));
  const kindOf = () => "attempt";
  return [family, sample(handlers, { name: `attempts “${family}” of user agents`, size, kindOf })];
});

/** Code may wait for a promise that never resolves; people can cancel it. */
const cancelAfterMs = 5000;

const repository = fileURLToPath(new URL("../../../", import.meta.url));

/** Secrets that no outcome may contain. */
const canaries = ["canary-in-a-file-1b2c3d", "canary-in-the-environment-4e5f6a", "canary-of-another-agent-7b8c9d"];
const [inFile = "", inEnvironment = "", ofOther = ""] = canaries;

let host: HostProcess;
let trap: Awaited<ReturnType<typeof openTrap>>;

beforeAll(async () => {
  trap = await openTrap();
  host = await startAgentHost({
    config: {
      maxFailuresPerMinute: 1000,
      sandboxSlots: 2,
      agentSlots: 6,
      sandbox: { memoryMb: 64, stallTimeoutSeconds: 2 },
      turn: { heartbeatSeconds: 1 },
    },
    env: { CANARY: inEnvironment, OPENAI_API_KEY: inEnvironment },
  });
  await mkdir(join(host.home, "files"));
  await writeFile(join(host.home, "files", "canary.txt"), inFile);
});

afterAll(async () => {
  await host?.stop();
  await trap?.stop();
});

test.concurrent.for(
  all.flatMap(([family, attempts]) => [false, true].map((isGranted) => ({ family, attempts, isGranted }))),
)(
  "no attempt of the family “$family” succeeds as a user agent (all capabilities: $isGranted)",
  { timeout: 600_000 },
  async ({ family, attempts, isGranted }, { expect }) => {
    const client = await createUser(`${family}-${isGranted ? "granted" : "bare"}`);
    const handlers = attempts.map(({ name, code }) => ({ name, code: fillPlaceholders(code) }));
    await deployAgent(client, "attempts", createAttemptAgent(handlers), {
      agency: "den",
      capabilities: isGranted ? [...agentCapabilities] : [],
      createAgent: false,
    });
    const outcomes: unknown[] = [];
    for (const [index, { name, code }] of handlers.entries()) {
      const outcome = await makeAttempt(client, `attempt-${index}`, name);
      const leaked = findLeaks(outcome, code);
      if (outcome.includes("ESCAPED") || leaked.length > 0)
        outcomes.push({ name, outcome: outcome.slice(0, 1000), leaked });
      expect([name, (await fetch(`${host.url}/health`)).status]).toEqual([name, 200]);
    }
    expect(outcomes).toEqual([]);
  },
);

/** Has a new agent of the package make one attempt. Returns everything that it said, threw and logged. */
async function makeAttempt(client: Client, agent: string, attempt: string): Promise<string> {
  const target = `${agent}@den`;
  await client.agents("den").create({ name: agent, blueprint: "attempts" });
  const turn = await client.agent(target).send(attempt);
  const ended = turn.outcome();
  const timer = setTimeout(() => void turn.cancel(), cancelAfterMs);
  const { status, content, failure } = await ended;
  clearTimeout(timer);
  const { logs } = await client.call("listAgentLogs", { params: { agency: "den", agent } });
  return JSON.stringify([status, content, failure, logs.map(({ text }) => text)]);
}

/** Creates a user with an agent that has a secret. */
async function createUser(user: string): Promise<Client> {
  const body = { name: "t", user, scopes: ["admin" as const] };
  const { token } = await host.client.call("createToken", { body });
  const client = createClient({ url: host.url, token });
  await client.call("createAgency", { body: { id: "den" } });
  await deployAgent(client, "other", createOther(), { agency: "den" });
  expect((await (await client.agent("other@den").send(ofOther)).outcome()).content).toBe("1");
  users.push(client);
  return client;
}

const users: Client[] = [];

/** Keeps its first message wherever it can, and counts messages. */
const createOther = () => `
let count = 0;
const kept = [];
export default defineAgent({
  async onMessage(message, ctx) {
    kept.push(globalThis.canary = message.content);
    ctx.setState({ secret: message.content, count: ++count });
    await ctx.storage.set("secret", message.content);
    await ctx.send(String(count));
  },
});`;

test("no server was reached, and the other agents are as they were", async () => {
  expect(trap.visits()).toBe(0);
  expect(users.length).toBe(all.length * 2);
  for (const client of users) {
    const { code, messages } = await client.call("exportAgent", { params: { agency: "den", agent: "other" } });
    expect(code?.state).toEqual({ secret: ofOther, count: 1 });
    expect(messages.map(({ content }) => content)).toEqual([ofOther, "1"]);
    expect(await (await client.agent("other@den").send("again")).outcome()).toMatchObject({ status: "completed" });
  }
  expect(await host.client.call("health")).toMatchObject({ status: "ok", restarts: 0 });
});

function fillPlaceholders(code: string): string {
  return code
    .replaceAll("TRAP", `http://127.0.0.1:${trap.port}`)
    .replaceAll("PORT", String(trap.port))
    .replaceAll("MAIN", host.url)
    .replaceAll("HOME", host.home)
    .replaceAll("OTHER", "other");
}

/** Finds secrets, and paths of this machine unless the attempt itself contains them. */
function findLeaks(text: string, code: string): string[] {
  const paths = code.includes(host.home) ? [] : [dirname(host.home), repository];
  return [...canaries, host.token, ...paths].filter((secret) => text.includes(secret));
}
