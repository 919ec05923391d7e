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

/** These take long, and longer on a busy machine. Of the other families a sample has every way in which an attempt ends. */
const costlySizes: Record<string, number> = { hungry: 4, oversized: 8 };

const sampled = Object.entries(families).map(([family, attempts]): [string, readonly Attempt[]] => {
  // What one run leaves behind the next looks for, so they are not taken apart.
  if (family === "runs") return [family, attempts];
  const kindOf = ({ ends }: Attempt) =>
    family in costlySizes ? (String(ends).match(/\b(?:ok|threw|limit|timeout|syntax)\b/g) ?? []) : String(ends);
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

/** What no outcome may ever hold. */
const canaries = ["canary-in-a-file-0a1b2c", "canary-in-the-environment-3d4e5f", "canary-of-another-agent-6a7b8c"];
const [inFile = "", inEnvironment = "", ofOther = ""] = canaries;

let coders: CodeTestbed;
let trap: Awaited<ReturnType<typeof openTrap>>;
let other: TestAgent;
const attackers: TestAgent[] = [];

beforeAll(async () => {
  trap = await openTrap();
  coders = await openCodeTestbed({
    // One more than there are families at a time, so that each keeps its own.
    slots: 6,
    sandbox: { maxTimeoutSeconds: 90, stallTimeoutSeconds: 90, memoryMb: 64 },
    given: all.map(({ given }) => given).filter((given) => Object.keys(given).length > 0),
    env: { CANARY: inEnvironment, OPENAI_API_KEY: inEnvironment },
  });
  await mkdir(join(coders.home, "files"));
  await writeFile(join(coders.home, "files", "canary.txt"), inFile);
  other = await coders.newCoder();
  await coders.run(
    other,
    `await tools.set_title({ title: ${JSON.stringify(ofOther)} }); globalThis.canary = ${JSON.stringify(ofOther)}; return 1`,
  );
});

afterAll(async () => {
  await coders?.stop();
  await trap?.stop();
});

test("there are more than 150 attempts, and no two are the same", () => {
  expect(new Set(all.map(({ code, given }) => code + JSON.stringify(given))).size).toBe(all.length);
  expect(new Set(all.map(({ tries }) => tries)).size).toBe(all.length);
  expect(all.length).toBeGreaterThan(150);
});

test.concurrent.for(sampled)(
  "no attempt of the family “%s” gets anywhere",
  { timeout: 300_000 },
  async ([, attempts], { expect }) => {
    const agent = await coders.newCoder();
    attackers.push(agent);
    const passed: unknown[] = [];
    for (const { tries, code, ends, given } of attempts) {
      const { kind, text } = await coders.run(agent, fillPlaceholders(code), given);
      const outcome = `${kind}: ${text}`;
      const leaked = findLeaks(outcome, code);
      if (!ends.test(outcome) || outcome.includes("ESCAPED") || leaked.length > 0)
        passed.push({ tries, outcome: outcome.slice(0, 1000), leaked });
    }
    expect(passed).toEqual([]);
  },
);

test("nobody was reached, nothing was read, and nothing went on after its run", async () => {
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
  const { body } = await coders.api("/health");
  expect(body).toMatchObject({ status: "ok", restarts: 0 });
  expect(coders.house().daemon.exitCode).toBe(null);
});

function fillPlaceholders(code: string): string {
  const { url } = coders.house();
  return code
    .replaceAll("TRAP", `http://127.0.0.1:${trap.port}`)
    .replaceAll("PORT", String(trap.port))
    .replaceAll("MAIN", url)
    .replaceAll("HOME", coders.home)
    .replaceAll("OTHER", other.name);
}

/** Secrets always; paths of this machine unless the attempt itself speaks of them. */
function findLeaks(text: string, code: string): string[] {
  const paths = code.includes("HOME") ? [] : [dirname(coders.home), dirname(coders.program), repository];
  return [...canaries, coders.house().token, ...paths].filter((secret) => text.includes(secret));
}

/** Calls that code made when the call that ran it had its result already. */
function findCallsOutsideRun(log: readonly AgentEvent[]): unknown[] {
  const ended = new Set<string>();
  return log.filter(({ type, data }) => {
    if (type === "tool.output" || type === "tool.error") ended.add(data.callId);
    return type === "capability.called" && ended.has(data.parentCallId);
  });
}
