import http from "node:http";
import type { AddressInfo } from "node:net";
import type { AgentEvent } from "@thinkery/sdk";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openTestbed, turnEndTypes, type Testbed, type TestAgent } from "../kit/worker/testbed.ts";

// The same rules for every way to make a call: by the model, by code, and by a command in a shell.

type Action = "deny" | "ask" | "allow";
type Way = "model" | "code" | "capability" | "shell";

interface Row {
  rules: { tool: string; match?: string; action: Action }[];
  hitl?: string[];
  /** The call, for each way it can be made. */
  call: Call;
  allowed: boolean;
  /** The ways in which the call waits for a person. In all others it is denied, because nothing can wait there. */
  asks?: Way[];
}

interface Call {
  model?: { tool: string; input: object };
  code?: string;
  capability?: string;
  shell?: string;
}

const command = (line: string): Call => ({
  model: { tool: "bash", input: { command: line } },
  code: `tools.bash({ command: ${JSON.stringify(line)} })`,
  capability: `bash(${JSON.stringify(line)})`,
  shell: `bash -c ${JSON.stringify(line)}`,
});
const read = (path: string): Call => ({
  model: { tool: "readFile", input: { path } },
  code: `tools.readFile({ path: ${JSON.stringify(path)} })`,
  capability: `fs.readFile(${JSON.stringify(path)})`,
});
const echo = (text: string): Call => ({
  model: { tool: "echo", input: { text } },
  code: `tools.echo({ text: ${JSON.stringify(text)} })`,
});
const request = (path: string): Call => ({ capability: `fetch("SITE${path}")`, shell: `curl -sS "SITE${path}"` });

const createRule = (tool: string, action: Action, match?: string) => ({
  tool,
  action,
  ...(match === undefined ? {} : { match }),
});

const table: Row[] = [
  { rules: [], call: command("rm a.txt"), allowed: true },
  { rules: [createRule("bash", "deny", "rm *")], call: command("rm a.txt"), allowed: false },
  { rules: [createRule("bash", "deny", "rm *")], call: command("cat a.txt"), allowed: true },
  { rules: [createRule("bash", "ask", "rm")], call: command("rm a.txt"), allowed: false, asks: ["model"] },
  {
    rules: [createRule("bash", "allow", "rm"), createRule("bash", "deny", "rm -r*")],
    call: command("rm a.txt"),
    allowed: true,
  },
  {
    rules: [createRule("bash", "allow"), createRule("*", "deny", "secret")],
    call: command("echo secret"),
    allowed: false,
  },
  { rules: [createRule("ba*", "deny", "a.txt")], call: command("cat ./a.txt"), allowed: false },
  { rules: [createRule("bash", "deny")], call: command("true"), allowed: false },
  { rules: [], hitl: ["bash"], call: command("true"), allowed: false, asks: ["model", "shell"] },
  { rules: [createRule("readFile", "deny", "keys/")], call: read("keys/one.txt"), allowed: false },
  { rules: [createRule("readFile", "deny", "keys/")], call: read("a.txt"), allowed: true },
  { rules: [createRule("read*", "ask")], call: read("a.txt"), allowed: false, asks: ["model"] },
  { rules: [createRule("*", "deny", "KEYS")], call: read("keys/one.txt"), allowed: false },
  { rules: [createRule("writeFile", "deny", "a.txt")], call: read("a.txt"), allowed: true },
  { rules: [createRule("echo", "deny", "pass*word")], call: echo("the pass is a word"), allowed: false },
  { rules: [createRule("echo", "deny", "pass*word")], call: echo("the pass"), allowed: true },
  {
    rules: [createRule("echo", "allow"), createRule("echo", "ask", "now")],
    call: echo("do it now"),
    allowed: false,
    asks: ["model"],
  },
  // Without a rule that allows a URL, the shell has no curl at all.
  { rules: [], call: { capability: `fetch("SITE/open")` }, allowed: false },
  { rules: [createRule("fetch", "allow", "SITE/open")], call: request("/open"), allowed: true },
  { rules: [createRule("fetch", "allow", "SITE/open")], call: request("/other"), allowed: false },
  {
    rules: [createRule("fetch", "allow", "SITE/*"), createRule("fetch", "deny", "SITE/other")],
    call: request("/OTHER"),
    allowed: false,
  },
  {
    rules: [createRule("fetch", "allow", "SITE/*"), createRule("*", "ask")],
    call: request("/open"),
    allowed: false,
    asks: ["capability", "shell"],
  },
];

const rows = table.map((row, index) => ({
  ...row,
  index,
  ruleText: JSON.stringify([...row.rules, ...(row.hitl ?? [])]),
  callText: JSON.stringify(Object.values(row.call)[0]),
  ways: Object.keys(row.call) as Way[],
}));

let testbed: Testbed;
let agent: TestAgent;
let site: http.Server;
let origin: string;

beforeAll(async () => {
  site = http.createServer((_, response) => void response.end("open"));
  await new Promise<void>((resolve) => site.listen(0, "127.0.0.1", resolve));
  origin = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
  const insertOrigin = (text: string) => text.replaceAll("SITE", origin);
  const toolCall = (call: Call, way: Way) => {
    if (way === "model") return call.model;
    if (way === "shell") return { tool: "bash", input: { command: insertOrigin(call.shell ?? "") } };
    const code = `try { const value = await ${insertOrigin(call[way] ?? "")}; return typeof value === "string" ? value : JSON.stringify(value) } catch (error) { return error.message }`;
    return { tool: "executeCode", input: { code } };
  };
  testbed = await openTestbed({
    worker: new URL("../kit/worker/system.worker.ts", import.meta.url),
    config: { toolOrigins: [origin] },
    scripts: {
      default: rows.flatMap(({ ways, call, index }) =>
        ways.map((way) => ({
          when: `^${way} ${index}$`,
          steps: [{ call: toolCall(call, way) }, { text: "{{ results.0 }}" }],
        })),
      ),
    },
  });
  await setConfig({});
  agent = await testbed.newAgent({ blueprint: "restricted" });
});

afterAll(async () => {
  await testbed?.stop();
  site?.close();
  site?.closeAllConnections();
});

// One agent for all rows: a sandbox serves one agent at a time, and another agent has to wait for its replacement.
const setConfig = (config: object) => testbed.api("/agency/global/blueprints", "POST", { name: "restricted", config });

/** Whether a rule prevented the call, according to the turn's log or the shell's output. */
function isRefused(log: AgentEvent[], runId: string, result: string): boolean {
  const events = log.filter(({ data }) => "runId" in data && data.runId === runId);
  const isInLog = events.some(({ data }) => "errorCode" in data && data.errorCode === "denied");
  return isInLog || /denied by this agent's policy|needs a person's approval, which/.test(result);
}

/** Runs a turn to its end; denies what it asks for. */
async function runTurn(message: string): Promise<{ end: AgentEvent; hasAsked: boolean }> {
  const { runId } = await agent.invoke({ message });
  const isOwn = ({ data }: AgentEvent) => "runId" in data && data.runId === runId;
  const first = await agent.waitForEvent("a pause or the end", (event) => {
    return isOwn(event) && (event.type === "run.paused" || turnEndTypes.includes(event.type));
  });
  const hasAsked = first.type === "run.paused";
  if (hasAsked) await testbed.api(`${agent.at}/approve`, "POST", { approved: false });
  return { end: hasAsked ? await agent.waitForEnd(runId) : first, hasAsked };
}

test.each(rows)("rules $ruleText, call $callText", async ({ rules, hitl, ways, index, allowed, asks = [] }) => {
  const policy = rules.map((rule) => JSON.parse(JSON.stringify(rule).replaceAll("SITE", origin)) as object);
  await setConfig({ policy, ...(hitl ? { hitl: { tools: hitl } } : {}) });
  for (const way of ways) {
    for (const path of ["a.txt", "keys/one.txt"]) await testbed.api(`${agent.at}/files/${path}`, "PUT", "content");
    const { end, hasAsked } = await runTurn(`${way} ${index}`);
    expect(end.type).toBe("agent.completed");
    const { runId, result } = end.data as { runId: string; result: string };
    const refused = isRefused(await agent.log(), runId, result);
    expect({ way, result, hasAsked, refused }).toEqual({
      way,
      result,
      hasAsked: asks.includes(way),
      refused: !allowed,
    });
  }
});
