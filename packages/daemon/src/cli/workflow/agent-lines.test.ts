import type { JobEvent, TeamAgent } from "@thinkery/sdk";
import { expect, test } from "vitest";
import { AgentLines, formatCount } from "./agent-lines.ts";

const now = Date.parse("2026-01-01T00:01:30Z");

function createStatus(name: string, change: Partial<TeamAgent> = {}): JobEvent {
  const inbox = { pending: 0, seen: 0, deferred: 0, givenUp: 0 };
  const status: TeamAgent = { name, status: "idle", steps: 1, tokens: 1234, costUsd: 0, inbox, ...change };
  return { type: "status", agent: name, status };
}

const working = { status: "working", since: "2026-01-01T00:00:00Z" } as const;

function format(events: JobEvent[], width = 100): string[] {
  const lines = new AgentLines();
  for (const event of events) lines.apply(event);
  return lines.format(now, width);
}

const call = (agent: string, id: string, command: string): JobEvent => ({
  type: "tool_call",
  agent,
  call: { id, name: "bash", input: { command } },
});

test("each agent has its state, the time it takes, its tokens, its cost and what it does", () => {
  expect(
    format([
      createStatus("lead", { costUsd: 0.125 }),
      createStatus("kimi-code.2", { ...working, tool: "grep", tokens: 950 }),
      createStatus("asker", { status: "waiting", waitingFor: "question", since: working.since }),
      createStatus("broken", { status: "failed", error: "No key.\nSet one." }),
    ]),
  ).toEqual([
    "lead         idle                      1.2k tokens  $0.13",
    "kimi-code.2  working          1m 30s    950 tokens  grep",
    "asker        needs an answer  1m 30s   1.2k tokens",
    "broken       failed                    1.2k tokens  No key. Set one.",
  ]);
});

test("a call is shown until its result, then the end of what is written, until the turn is over", () => {
  const events = [createStatus("a", working), call("a", "1", "ls"), call("a", "2", "pwd")];
  const readActivity = () => format(events)[0]?.split("tokens").at(-1)?.trim();
  expect(readActivity()).toBe('bash {"command":"pwd"}');
  events.push({ type: "tool_result", agent: "a", callId: "2", name: "bash", output: "" });
  expect(readActivity()).toBe('bash {"command":"ls"}');
  events.push({ type: "tool_result", agent: "a", callId: "1", name: "bash", output: "" });
  events.push({ type: "chunk", agent: "a", text: "One\nTwo" }, { type: "chunk", agent: "a", text: " words\n" });
  expect(readActivity()).toBe("Two words");
  events.push(createStatus("a"));
  expect(readActivity()).toBe("");
  events.push(createStatus("a", working));
  expect(readActivity()).toBe("");
});

test("lines fit the terminal, whatever agents say", () => {
  const name = `a${"b".repeat(60)}`;
  const lines = format([createStatus(name, working), call(name, "1", `${"x".repeat(500)}\u001b[2J`)], 40);
  expect(lines).toHaveLength(1);
  expect(lines[0]?.length).toBeLessThanOrEqual(40);
  expect(format([createStatus("a", { ...working, tool: "x\u001b[2J\ny" })])[0]).toMatch(/tokens {2}x\ufffd\[2J y$/);
});

test("of many agents, those that do something are shown first", () => {
  const idle = Array.from({ length: 20 }, (_, index) => createStatus(`idle${index}`));
  const lines = format([...idle, createStatus("busy", working), createStatus("asks", { status: "waiting" })]);
  expect(lines.map((line) => line.split(" ")[0])).toEqual([
    "asks",
    "busy",
    ...Array.from({ length: 10 }, (_, index) => `idle${index}`),
    "and",
  ]);
  expect(lines.at(-1)).toBe("and 10 more agents");
});

test("all work waits if somebody waits and nobody works", () => {
  const isWaiting = (...events: JobEvent[]) => {
    const lines = new AgentLines();
    for (const event of events) lines.apply(event);
    return lines.isWaiting;
  };
  const waiting = createStatus("a", { status: "waiting" });
  expect(isWaiting()).toBe(false);
  expect(isWaiting(waiting, createStatus("b"))).toBe(true);
  expect(isWaiting(waiting, createStatus("b", working))).toBe(false);
  expect(isWaiting(waiting, createStatus("b", working), createStatus("b"))).toBe(true);
});

test("counts have a few characters", () => {
  const counts = [0, 999, 1000, 12_345, 99_950, 123_456, 999_949, 999_950, 4_500_000];
  expect(counts.map(formatCount)).toEqual(["0", "999", "1.0k", "12.3k", "100k", "123k", "1000k", "1.0M", "4.5M"]);
});
