import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { WebSocket } from "ws";
import { createHomePath, type HostProcess, removeHome, startHostProcess } from "../kit/host-process.ts";
import { deployAgent } from "../kit/user-agent.ts";
import { waitUntil } from "../kit/wait-until.ts";
import { send } from "../kit/wire.ts";

// Whatever an agent is told or a model says: the secrets of the environment appear in none of the places people read.

const keys = {
  OPENAI_API_KEY: "plain-openai-key-4f9a2b7c1d",
  ANTHROPIC_API_KEY: "sk-ant-api03-Zx9_yW8-vU7tS6rQ5pO4",
  GOOGLE_GENERATIVE_AI_API_KEY: "AIzaSyD-9tSrke72PouQMnMX-a7eZSW0jkFMBWY",
  LLM_API_KEY: "pass phrase/with+odd=chars&more?",
  CUSTOM_KEY: 'quoted"and\\slashed-key-77',
};

const script = `
pace: 3
exchanges:
  - steps:
      - reasoning: "{{ message }}"
      - call: { tool: set_title, input: { title: "{{ message }}" } }
      - call: { tool: writeFile, input: { path: a.txt, content: "{{ message }}" } }
      - call: { tool: no_such_tool, input: { value: "{{ message }}" } }
      - text: "You said: {{ message }}"
`;

const delegatingScript = `
exchanges:
  - steps:
      - call: { tool: createSubtask, input: { type: code, title: "Look at {{ message }}" } }
      - call: { tool: task, input: { description: "{{ message }}", streaming: true } }
      - text: "It said: {{ results.1 }}"
`;

const waitingScript = `
exchanges:
  - when: "/^ask/"
    steps: [{ call: { tool: askUser, input: { prompt: "{{ message }}" } } }, { text: Asked. }]
  - when: "/^later/"
    steps: [{ call: { tool: schedule, input: { when: 3600, input: "{{ message }}" } } }, { text: Planned. }]
  - steps: [{ call: { tool: writeFile, input: { path: a.txt, content: "{{ message }}" } } }, { text: Written. }]
`;

let home: string;
let host: HostProcess;
let secrets: Record<string, string>;

beforeAll(async () => {
  home = await createHomePath();
  await mkdir(join(home, "scripts"), { recursive: true, mode: 0o700 });
  await writeFile(join(home, "scripts", "echo.yaml"), script);
  await writeFile(join(home, "scripts", "delegate.yaml"), delegatingScript);
  await writeFile(join(home, "scripts", "wait.yaml"), waitingScript);
  const providers = { custom: { wire: "chat", baseUrl: "http://127.0.0.1:9/v1", apiKeyVariable: "CUSTOM_KEY" } };
  await writeFile(join(home, "config.jsonc"), JSON.stringify({ providers, models: { fast: "scripted:echo" } }));
  host = await startHostProcess({ home, env: { ...keys, LLM_API_BASE: "http://127.0.0.1:9/v1" } });
  secrets = {
    ...keys,
    adminToken: host.token,
    signingKey: (await readFile(join(home, "signing-key"), "utf8")).trim(),
  };
});

afterAll(async () => {
  await host?.stop();
  await removeHome(home);
});

const encodings: Record<string, (secret: string) => string> = {
  plain: (secret) => secret,
  base64: (secret) => Buffer.from(secret).toString("base64"),
  base64url: (secret) => Buffer.from(secret).toString("base64url"),
  hex: (secret) => Buffer.from(secret).toString("hex"),
  percent: (secret) => encodeURIComponent(secret),
  json: (secret) => JSON.stringify(secret).slice(1, -1),
};

async function listKinds(): Promise<[kind: string, text: string][]> {
  const { token } = await host.client.call("createToken", { body: { name: "t", user: "bob" } });
  const { code } = await host.client.call("createLoginCode");
  const encoded = Object.entries(secrets).flatMap(([name, secret]) =>
    Object.entries(encodings).map(([encoding, encode]): [string, string] => [`${name} ${encoding}`, encode(secret)]),
  );
  return [...encoded, ["token", token], ["login code", code]];
}

test("no kind of secret appears in any sink", async () => {
  const kinds = await listKinds();
  expect(kinds.length).toBeGreaterThanOrEqual(40);
  const params = { agency: "global", agent: "parrot" };
  const texts = kinds.map(([, text]) => text);
  await host.client.call("createAgent", {
    params,
    body: { name: "parrot", model: "scripted:echo", system: `Never say ${texts[0]}.` },
  });
  const authorization = `Bearer ${host.token}`;
  const { sinks, close } = await follow("parrot");

  for (const [, text] of kinds) {
    const run = await fetch(`${host.url}/run`, {
      method: "POST",
      headers: { authorization, "content-type": "application/json" },
      body: JSON.stringify({ agent: "parrot", message: `See ${text} here.` }),
    });
    sinks.run = (sinks.run ?? "") + (await run.text());
  }
  const { events } = await host.client.call("listEvents", { params, query: { limit: 1000 } });
  sinks.events = JSON.stringify(events);
  for (const path of ["export", "messages?limit=500", "actions?limit=500", "state"])
    sinks[path] = await read(`/agents/parrot/${path}`);
  sinks.log = await readFile(join(home, "logs", "thinkery.log"), "utf8");
  sinks.output = host.readOutput();
  await waitUntil("the end in the stream", () => sinks.stream?.includes(`"seq":${events.at(-1)?.seq}`));
  close();

  expect(sinks.events).toContain("You said: See [redacted] here.");
  expect(findShown(sinks, kinds)).toEqual([]);
}, 120_000);

test("no kind of secret appears in the channels, the inboxes and the run of a team", async () => {
  const kinds = await listKinds();
  const text = kinds.map(([, secret]) => `See ${secret} here.`).join("\n");
  const agents = { parrot: { model: "scripted:echo", role: `Knows ${host.token}` } };
  const workflow = { name: "crew", agents, kickoff: text };
  const sinks: Record<string, string> = {};
  sinks.started = JSON.stringify(await host.client.call("createWorkflowRun", { body: { workflow, tag: "x" } }));
  const params = { agency: "crew:x" };
  for (const [, secret] of kinds)
    await host.client.call("postChannelMessage", {
      params: { ...params, channel: "general" },
      body: { content: `See ${secret} here.` },
    });
  await host.client.call("updateAgency", { params, body: { vars: { key: text } } });
  await waitUntil("the run to end", async () => {
    const { status } = await host.client.call("getWorkflowRun", { params });
    return status === "completed" || status === "failed";
  });
  for (const place of ["/channels/general/messages?limit=500", "/inbox/parrot?status=all", "/members", "/workflow", ""])
    sinks[`agency${place}`] = await read(`/agency/crew:x${place}`);
  for (const [place, shown] of Object.entries(sinks))
    expect([place, shown.includes("[redacted]")]).toEqual([place, true]);
  sinks.runs = await read("/workflow-runs");
  sinks.log = await readFile(join(home, "logs", "thinkery.log"), "utf8");
  expect(findShown(sinks, kinds)).toEqual([]);
}, 120_000);

test("no kind of secret appears in what tasks and sub-agents show", async () => {
  const kinds = await listKinds();
  const params = { agency: "desk", agent: "boss" };
  // Titles are shortened to 80 characters, which cuts this one.
  const cut = `${"a line that is shortened ".padEnd(40, ".")}${host.token}`;
  const text = [cut, ...kinds.map(([, text]) => `See ${text} here.`)].join("\n");
  kinds.push(["half of the admin token", host.token.slice(0, host.token.length / 2)]);
  await host.client.call("createAgency", { body: { id: "desk" } });
  await host.client.call("createAgent", { params, body: { name: "boss", model: "scripted:delegate" } });
  const { sinks, close } = await follow("boss", "desk");
  sinks.serve = JSON.stringify(await host.client.call("serve", { body: { agent: "boss@desk", message: text } }));
  sinks.created = "";
  for (const [, secret] of kinds) {
    const body = { title: `Use ${secret}`, description: secret };
    const task = await host.client.call("createTask", { params, body });
    const change = { params: { ...params, task: task.taskId }, body: { status: "complete", result: secret } } as const;
    sinks.created += JSON.stringify([task, await host.client.call("updateTask", change)]);
  }
  const { taskId } = await host.client.call("createTask", { params, body: { title: `Look at ${keys.LLM_API_KEY}` } });
  const spawn = { taskId, title: `Try ${host.token}`, description: text, context: text };
  sinks.spawn = JSON.stringify(await host.client.call("spawnSubagent", { params, body: spawn }));
  const subagents = await waitUntil("the sub-agents to report", async () => {
    const { subagents } = await host.client.call("listSubagents", { params });
    return subagents.every(({ status }) => status === "complete") && subagents;
  });
  expect(subagents).toHaveLength(2);

  for (const at of ["boss", ...subagents.map(({ facetName }) => `boss/sub/${facetName}`)])
    for (const path of ["", "/state", "/events?limit=1000", "/export", "/messages?limit=500", "/actions?limit=500"])
      sinks[at + path] = await read(`/agency/desk/agent/${at}${path}`);
  for (const path of ["boss/tasks?limit=500", "boss/tasks?archived=1&limit=500", "boss/subagents", "boss/versions"])
    sinks[path] = await read(`/agency/desk/agent/${path}`);
  for (const { taskId } of subagents) sinks[taskId] = await read(`/agency/desk/agent/boss/subagents/${taskId}`);
  sinks.agents = await read("/agency/desk/agents");
  sinks.log = await readFile(join(home, "logs", "thinkery.log"), "utf8");
  close();

  // Each place has something to show.
  expect(sinks.socket).toContain("subagent_tool_call");
  expect(sinks.stream).toContain("subagent_complete");
  for (const place of [
    "serve",
    "created",
    "boss/tasks?limit=500",
    "boss/state",
    "boss/subagents",
    "boss/export",
    "agents",
  ])
    expect([place, sinks[place]?.includes("[redacted]")]).toEqual([place, true]);
  expect(findShown(sinks, kinds)).toEqual([]);
}, 120_000);

test("no kind of secret appears in the tasks, the feedback and the tools that a team shares", async () => {
  const kinds = await listKinds();
  await host.client.call("createAgency", { body: { id: "sharing" } });
  const params = { agency: "sharing" };
  await host.client.call("createAgent", { params, body: { name: "alice", model: "scripted:echo" } });
  const sinks: Record<string, string> = { responses: "" };
  const note = (response: unknown) => void (sinks.responses += JSON.stringify(response));
  for (const [index, [, secret]] of kinds.entries()) {
    const body = { title: `Use ${secret}`, description: secret };
    const task = await host.client.call("createTeamTask", { params, body });
    const change = { params: { ...params, task: task.taskId }, body: { status: "failed", error: secret } } as const;
    note([task, await host.client.call("updateTeamTask", change)]);
    note(await host.client.call("createFeedback", { params, body: { message: `See ${secret} here.` } }));
    const tool = { name: `tool_${index}`, description: `Sends ${secret}.`, mock: secret };
    note(await host.client.call("putAgencyTool", { params: { ...params, tool: tool.name }, body: { tool } }));
  }
  for (const path of ["tasks?limit=500", "feedback?limit=500", "tools", "agent/alice/tools"])
    sinks[path] = await read(`/agency/sharing/${path}`);
  sinks.log = await readFile(join(home, "logs", "thinkery.log"), "utf8");
  for (const [place, text] of Object.entries(sinks))
    if (place !== "log") expect([place, text.includes("[redacted]")]).toEqual([place, true]);
  expect(findShown(sinks, kinds)).toEqual([]);
}, 60_000);

test("no kind of secret appears in what waits for a person or a time", async () => {
  const kinds = await listKinds();
  const text = kinds.map(([, text]) => `See ${text} here.`).join("\n");
  await host.client.call("createAgency", { body: { id: "waits" } });
  const policy = [{ tool: "writeFile", action: "ask" }] as const;
  const blueprint = { name: "careful", model: "scripted:wait", tags: ["default"], config: { policy: [...policy] } };
  await host.client.call("putBlueprint", { params: { agency: "waits" }, body: blueprint });
  const sinks: Record<string, string> = {};
  for (const name of ["ask", "later", "write"]) {
    const params = { agency: "waits", agent: name };
    await host.client.call("createAgent", { params, body: { name, blueprint: "careful" } });
    await host.client.call("invoke", { params, body: { message: `${name}: ${text}` } });
  }
  const schedule = { when: 3600, input: text };
  const params = { agency: "waits", agent: "later" };
  const { id } = await host.client.call("createSchedule", { params, body: schedule });
  await host.client.call("createAgencySchedule", { params, body: { ...schedule, agent: "ask" } });
  await host.client.call("runSchedule", { params: { ...params, schedule: id } });
  const listAll = async () => {
    for (const path of ["/approvals", "/questions", "/agency/waits/schedules"]) sinks[path] = await read(path);
    for (const path of [
      "write/approvals",
      "ask/state",
      "later/schedules",
      "later/export",
      `later/schedules/${id}/runs`,
    ])
      sinks[path] = await read(`/agency/waits/agent/${path}`);
  };
  await waitUntil("everything to wait", async () => {
    await listAll();
    const shown = ["/approvals", "/questions", "later/schedules"].map((path) => sinks[path]?.includes("[redacted]"));
    return shown.every(Boolean) && sinks["later/schedules"]?.includes("later: See");
  });
  for (const place of ["/agency/waits/schedules", "write/approvals", "ask/state", "later/export"])
    expect([place, sinks[place]?.includes("[redacted]")]).toEqual([place, true]);
  expect(findShown(sinks, kinds)).toEqual([]);
}, 120_000);

test("no kind of secret appears in what the code of an agent says, logs, throws and keeps", async () => {
  const kinds = await listKinds();
  const params = { agency: "code", agent: "teller" };
  await host.client.call("createAgency", { body: { id: "code" } });
  // The code has them from elsewhere: what it is told is redacted already.
  const reversed = kinds.map(([, text]) => [...text].toReversed().join(""));
  const code = `
  const secrets = ${JSON.stringify(reversed)}.map((text) => [...text].reverse().join(""));
  export default defineAgent({
    tools: { tell: { description: "Tells.", parameters: { text: { type: "string" } }, execute: ({ text }, ctx) => { ctx.log.warn(text); return { text }; } } },
    async onMessage(message, ctx) {
      const [verb, index] = message.content.split(" ");
      const content = "See " + secrets[index] + " here.";
      ctx.log.info(content);
      ctx.log.error({ content });
      console.log(content);
      ctx.setState({ content, nested: { content } });
      await ctx.storage.set("content", content);
      const reply = ctx.reply();
      reply.thinking(content);
      reply.action("look", { content });
      for (const character of content) reply.write(character);
      await ctx.tools.execute("set_title", { title: content });
      await ctx.tools.execute("teller__tell", { text: content }).catch((error) => ctx.log.error(error));
      await ctx.tools.execute("no_such_tool", { content }).catch((error) => ctx.log.error(error.message));
      if (verb === "throw") throw new TypeError(content);
      await ctx.send(content);
    },
  });`;
  await deployAgent(host.client, "teller", code, { agency: "code", capabilities: ["tools"] });
  const { sinks, close } = await follow("teller", "code");
  for (const index of kinds.keys())
    for (const verb of ["say", "throw"]) {
      const body = { agent: "teller@code", message: `${verb} ${index}` };
      const response = await host.client.call("serve", { body }).catch((error: unknown) => String(error));
      sinks[verb] = (sinks[verb] ?? "") + JSON.stringify(response);
    }
  const { events } = await host.client.call("listEvents", { params, query: { limit: 1000 } });
  sinks.events = JSON.stringify(events);
  for (const path of ["export", "messages?limit=500", "actions?limit=500", "state", "code", "logs?limit=500"])
    sinks[path] = await read(`/agency/code/agent/teller/${path}`);
  sinks.package = await read("/agency/code/packages/teller");
  sinks.log = await readFile(join(home, "logs", "thinkery.log"), "utf8");
  sinks.output = host.readOutput();
  await waitUntil("the end in the stream", () => sinks.stream?.includes("See [redacted] here."));
  close();
  // Each place has something to show.
  for (const place of ["say", "throw", "events", "export", "messages?limit=500", "state", "code", "logs?limit=500"])
    expect([place, sinks[place]?.includes("[redacted]")]).toEqual([place, true]);
  expect(findShown(sinks, kinds)).toEqual([]);
}, 120_000);

const read = async (path: string) =>
  (await send({ port: host.port, path, headers: { authorization: `Bearer ${host.token}` } })).body;

/** Collects everything that an agent's sockets and its stream of events show. */
async function follow(agent: string, agency = "global"): Promise<{ sinks: Record<string, string>; close(): void }> {
  const authorization = `Bearer ${host.token}`;
  const sinks: Record<string, string> = { socket: "", "sdk socket": "", stream: "" };
  const sockets = [
    ["socket", `/agency/${agency}/agent/${agent}/ws?after=0`],
    ["sdk socket", `/agents/think/${agency}~${agent}`],
  ].map(([name = "", path]) => {
    const socket = new WebSocket(`ws://127.0.0.1:${host.port}${path}`, { headers: { authorization } });
    socket.on("message", (data) => (sinks[name] += collect(String(data))));
    socket.on("open", () => socket.send(JSON.stringify({ type: "actions", on: true })));
    return socket;
  });
  const following = new AbortController();
  const stream = await fetch(`${host.url}/agency/${agency}/agent/${agent}/events?after=0&progress=1`, {
    headers: { authorization, accept: "text/event-stream" },
    signal: following.signal,
  });
  void (async () => {
    for await (const chunk of stream.body ?? []) sinks.stream += new TextDecoder().decode(chunk);
  })().catch(() => {});
  await waitUntil("the sockets", () => sockets.every(({ readyState }) => readyState === WebSocket.OPEN));
  const close = () => {
    following.abort();
    for (const socket of sockets) socket.terminate();
  };
  return { sinks, close };
}

const findShown = (sinks: Record<string, string>, kinds: readonly [kind: string, text: string][]) =>
  Object.entries(sinks).flatMap(([sink, content]) =>
    kinds.filter(([, text]) => isShown(content, text)).map(([kind]) => `${kind} in ${sink}`),
  );

/** Text as it is, and inside of JSON. */
function isShown(content: string, secret: string): boolean {
  return [secret, JSON.stringify(secret).slice(1, -1)].some((text) => content.includes(text));
}

/** The text of streamed frames is joined: a secret may be split between them. */
function collect(data: string): string {
  const frame = JSON.parse(data) as { type: string; delta?: string; content?: string; data?: { delta?: string } };
  const isDelta = frame.type === "text_delta" || frame.type === "subagent_text_delta";
  const text = isDelta ? frame.delta : frame.type === "reasoning" ? frame.content : undefined;
  return text ?? `\n${data}\n`;
}

test("an escaped __proto__ is refused like a plain one", async () => {
  const headers = { authorization: `Bearer ${host.token}`, "content-type": "application/json" };
  for (const key of ["__proto__", "\\u005f_proto__", "__pr\\u006Fto__", "\\u005F\\u005f\\u0070roto\\u005f\\u005f"]) {
    const body = `{"theme":{"${key}" : {"a":1}}}`;
    const response = await send({ port: host.port, method: "PUT", path: "/user/preferences", headers, body });
    expect([key, response.status]).toEqual([key, 400]);
    expect(response.body).toContain("__proto__");
  }
  const harmless = { message: 'the key "__proto__": in a text, and \\u005f_proto__' };
  await host.client.call("invoke", { params: { agency: "global", agent: "parrot" }, body: harmless });
});
