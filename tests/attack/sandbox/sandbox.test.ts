import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { AgentEvent } from "@thinkery/sdk";
import { afterAll, beforeAll, expect, test } from "vitest";
import { sample } from "../../kit/sample.ts";
import type { TestAgent } from "../../kit/worker/testbed.ts";
import type { Attempt } from "./attempt.ts";
import { capabilities } from "./attempts/capabilities.ts";
import { generation } from "./attempts/generation.ts";
import { modules } from "./attempts/modules.ts";
import { network } from "./attempts/network.ts";
import { hungry, oversized, spinning } from "./attempts/resources.ts";
import { runs } from "./attempts/runs.ts";
import { secrets } from "./attempts/secrets.ts";
import { type CodeTestbed, openCodeTestbed, openTrap } from "./code-testbed.ts";

const families: Record<string, readonly Attempt[]> = {
  network,
  modules,
  secrets,
  generation,
  capabilities,
  runs,
  spinning,
  hungry,
  oversized,
};
const all = Object.values(families).flat();

/** Sample sizes of slow families. A sample of any other family covers every expected outcome. */
const costlySizes: Record<string, number> = { hungry: 4, oversized: 8 };

const sampled = Object.entries(families).map(([family, attempts]): [string, readonly Attempt[]] => {
  // Not sampled: each run looks for what the one before left behind.
  if (family === "runs") return [family, attempts];
  const kindOf = ({ expected }: Attempt) =>
    family in costlySizes ? (String(expected).match(/\b(?:ok|threw|limit|timeout|syntax)\b/g) ?? []) : String(expected);
  return [
    family,
    sample(attempts, {
      name: `sandbox attempts “${family}”`,
      size: costlySizes[family] ?? Math.ceil(attempts.length / 4),
      kindOf,
    }),
  ];
});

const repository = fileURLToPath(new URL("../../../", import.meta.url));

/** Secrets that no outcome may contain. */
const canaries = ["canary-in-a-file-0a1b2c", "canary-in-the-environment-3d4e5f", "canary-of-another-agent-6a7b8c"];
const [inFile = "", inEnvironment = "", ofOther = ""] = canaries;

let testbed: CodeTestbed;
let trap: Awaited<ReturnType<typeof openTrap>>;
let other: TestAgent;
const attackers: TestAgent[] = [];

beforeAll(async () => {
  trap = await openTrap();
  testbed = await openCodeTestbed({
    // One more than the families that run at a time, so that each keeps its own.
    slots: 6,
    sandbox: { maxTimeoutSeconds: 90, stallTimeoutSeconds: 90, memoryMb: 64 },
    options: all.map(({ options }) => options).filter((options) => Object.keys(options).length > 0),
    env: { CANARY: inEnvironment, OPENAI_API_KEY: inEnvironment },
  });
  await mkdir(join(testbed.home, "files"));
  await writeFile(join(testbed.home, "files", "canary.txt"), inFile);
  other = await testbed.newCodeAgent();
  await testbed.run(
    other,
    `await tools.set_title({ title: ${JSON.stringify(ofOther)} }); globalThis.canary = ${JSON.stringify(ofOther)}; return 1`,
  );
});

afterAll(async () => {
  await testbed?.stop();
  await trap?.stop();
});

test("there are more than 150 different attempts", () => {
  expect(new Set(all.map(({ code, options }) => code + JSON.stringify(options))).size).toBe(all.length);
  expect(new Set(all.map(({ name }) => name)).size).toBe(all.length);
  expect(all.length).toBeGreaterThan(150);
});

test.concurrent.for(sampled)(
  "no attempt of the family “%s” succeeds",
  { timeout: 300_000 },
  async ([, attempts], { expect }) => {
    const agent = await testbed.newCodeAgent();
    attackers.push(agent);
    const successes: unknown[] = [];
    for (const { name, code, expected, options } of attempts) {
      const { kind, text } = await testbed.run(agent, fillPlaceholders(code), options);
      const outcome = `${kind}: ${text}`;
      const leaked = findLeaks(outcome, code);
      if (!expected.test(outcome) || outcome.includes("ESCAPED") || leaked.length > 0)
        successes.push({ name, outcome: outcome.slice(0, 1000), leaked });
    }
    expect(successes).toEqual([]);
  },
);

test("no server was reached, no secret leaked, and no code ran on after its run", async () => {
  expect(trap.visits()).toBe(0);
  expect((await other.state()).title).toBe(ofOther);
  expect((await other.log()).filter(({ type }) => type === "capability.called")).toHaveLength(1);
  for (const agent of attackers) {
    const log = await agent.log();
    expect(findLeaks(JSON.stringify(log), "TRAP HOME MAIN OTHER")).toEqual([]);
    expect(findCallsOutsideRun(log)).toEqual([]);
    expect(log.filter(({ type }) => type === "capability.called")).toHaveLength(
      log.filter(({ type }) => type === "capability.answered").length,
    );
  }
  const { body } = await testbed.api("/health");
  expect(body).toMatchObject({ status: "ok", restarts: 0 });
  expect(testbed.host().daemon.exitCode).toBe(null);
});

function fillPlaceholders(code: string): string {
  const { url } = testbed.host();
  return code
    .replaceAll("TRAP", `http://127.0.0.1:${trap.port}`)
    .replaceAll("PORT", String(trap.port))
    .replaceAll("MAIN", url)
    .replaceAll("HOME", testbed.home)
    .replaceAll("OTHER", other.name);
}

/** Finds secrets, and paths of this machine unless the attempt itself contains them. */
function findLeaks(text: string, code: string): string[] {
  const paths = code.includes("HOME") ? [] : [dirname(testbed.home), dirname(testbed.program), repository];
  return [...canaries, testbed.host().token, ...paths].filter((secret) => text.includes(secret));
}

/** Capability calls after the end of their run. */
function findCallsOutsideRun(log: readonly AgentEvent[]): unknown[] {
  const ended = new Set<string>();
  return log.filter(({ type, data }) => {
    if (type === "tool.output" || type === "tool.error") ended.add(data.callId);
    return type === "capability.called" && ended.has(data.parentCallId);
  });
}
