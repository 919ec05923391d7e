import { build } from "esbuild";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type AgentOutcome, agentOutcomeSchema } from "../../packages/runtime/src/sandbox/agent-run.ts";
import { type BareWorker, startBareWorker } from "../kit/workerd.ts";

// The isolate of a user agent: how its code is loaded, what it reaches, and what its author is told.

let worker: BareWorker;

beforeAll(async () => {
  worker = await startBareWorker(new URL("./agent-process.worker.ts", import.meta.url), { sandbox: "service" });
});

afterAll(() => worker?.stop());

interface Sent {
  outcome: AgentOutcome;
  calls: string[];
  output: string;
  reads: number;
}

async function send(body: object): Promise<Sent> {
  const response = await fetch(worker.url, { method: "POST", body: JSON.stringify(body) });
  expect(response.status).toBe(200);
  const sent = (await response.json()) as Sent;
  return { ...sent, outcome: "rejected" in sent.outcome ? sent.outcome : agentOutcomeSchema.parse(sent.outcome) };
}

const message = {
  id: "1",
  content: "Hello",
  attachments: [],
  sender: { id: "u", name: "Ann", type: "user" },
  timestamp: "",
};
const payload = {
  agent: "global~a",
  settings: {},
  state: { count: 1 },
  tools: [],
  capabilities: [],
  message,
  messages: [message],
  conversation: [],
  hasEarlier: false,
};

const createCode = (body: string, head = "") =>
  `import { defineAgent } from "/thinkery/sdk.js";\n${head}\nexport default defineAgent({ async onMessage(message, ctx) {\n${body}\n} });`;

test("an agent handles a message with the host's SDK, and calls its host", async () => {
  const code = createCode(`
    ctx.setState({ count: ctx.state.count + 1 });
    console.log("seen", message.content);
    await ctx.send((await ctx.storage.get("key")) + " " + (await (await ctx.fetch("http://a.test/")).text()));
    const other = await fetch("http://b.test/");
    ctx.log.info(await other.text());
  `);
  const { outcome, calls, output } = await send({ code, payload });
  expect(outcome).toMatchObject({ ok: true, status: 200 });
  expect(JSON.parse((outcome as { body: string }).body)).toEqual({ state: { set: { count: 2 }, deleted: [] } });
  expect(calls.map((call) => call.split(" ")[0])).toEqual(["storage.get", "fetch", "reply", "fetch", "log"]);
  expect(calls[2]).toContain("key got http://a.test/");
  expect(output).toBe("seen Hello\n");
});

test("an isolate with an id stays loaded with its variables; without one it is discarded", async () => {
  const code = createCode("ctx.log.info(String(++count));", "let count = 0;");
  const first = await send({ code, payload, isolateId: "a.1" });
  const second = await send({ code, payload, isolateId: "a.1" });
  expect([first.reads, second.reads, second.calls[0]]).toEqual([1, 0, expect.stringContaining('"2"')]);
  const others = [await send({ code, payload, isolateId: "a.2" }), await send({ code, payload })];
  expect(others.map(({ calls }) => calls[0])).toEqual([expect.stringContaining('"1"'), expect.stringContaining('"1"')]);
});

test("requests that overlap in an isolate keep their consoles and hosts apart", async () => {
  const code = createCode(`
    console.log("begin", message.content);
    await new Promise((resolve) => setTimeout(resolve, 50));
    console.log("end", message.content);
    ctx.log.info(message.content);
  `);
  const sent = await Promise.all(
    ["one", "two", "three"].map((content) => {
      const own = { ...message, content };
      return send({ code, payload: { ...payload, message: own, messages: [own] }, isolateId: "overlap" });
    }),
  );
  for (const [index, content] of ["one", "two", "three"].entries()) {
    expect(sent[index]?.output).toBe(`begin ${content}\nend ${content}\n`);
    expect(sent[index]?.calls).toEqual([expect.stringContaining(content)]);
  }
});

test("errors have positions in the author's files", async () => {
  const { outputFiles } = await build({
    stdin: {
      contents: `import { defineAgent } from "@thinkery/sdk/agent";
const fail = (): never => {
  // why
  throw new TypeError("broken");
};
export default defineAgent({ onMessage() { fail(); } });`,
      sourcefile: "src/agent.ts",
      loader: "ts",
    },
    bundle: true,
    format: "esm",
    write: false,
    outdir: "/out",
    sourcemap: "external",
    alias: { "@thinkery/sdk/agent": "/thinkery/sdk.js" },
    external: ["/thinkery/sdk.js"],
  });
  const [map, code] = outputFiles.map(({ text }) => text) as [string, string];
  const { outcome } = await send({ code, sourceMap: map, payload });
  expect(outcome).toMatchObject({ ok: true, status: 500 });
  const { error } = JSON.parse((outcome as { body: string }).body) as { error: { stack: string } };
  expect(error.stack.split("\n").slice(0, 2)).toEqual([
    "TypeError: broken",
    expect.stringMatching(/^ {4}at fail \(src\/agent\.ts:4:9\)$/),
  ]);
  expect(error.stack).not.toContain("thinkery/");
});

test.each([
  ["export default 1;", "load", "default export made with defineAgent"],
  ["export default {};", "load", "default export made with defineAgent"],
  ['throw new Error("at load");', "load", "Error: at load"],
  ['import "/thinkery/sdk.js"; import { x } from "fs"; export default x;', "load", 'No such module "fs"'],
  ["export default {", "syntax", "SyntaxError"],
  [createCode("", "defineAgent({});"), "load", "needs onMessage"],
])("a module that cannot be used is explained: %s", async (code, kind, text) => {
  const { outcome } = await send({ code, route: "describe" });
  expect(outcome).toMatchObject({ ok: false, kind, message: expect.stringContaining(text) });
});

test("nothing but the host is in reach", async () => {
  const { port } = new URL(worker.url);
  const code = createCode(`
    const found = [];
    for (const name of ["fs", "node:fs", "node:child_process", "node:net"])
      await import(name).then((module) => found.push(name + " " + Object.keys(module).join()), () => {});
    const { env, exports } = await import("cloudflare:workers");
    found.push(...Object.keys(env), ...Object.keys(exports).filter((name) => name !== "default"));
    found.push(...Object.keys((await import("node:process")).env));
    const { connect } = await import("cloudflare:sockets");
    for (const address of ["127.0.0.1:${port}", "localhost:${port}"]) {
      try {
        await connect(address).opened;
        found.push("socket");
      } catch {}
    }
    for (const name of ["WebSocket", "process", "Deno"]) {
      try { found.push(name + typeof new globalThis[name]("ws://127.0.0.1")); } catch {}
    }
    try { await caches.open("x"); found.push("caches"); } catch {}
    try { (0, eval)("1"); found.push("eval"); } catch {}
    ctx.log.info(JSON.stringify(found));
    await ctx.bash("id").catch((error) => ctx.log.info(error.message));
  `);
  const { outcome, calls } = await send({ code, payload });
  expect(outcome).toMatchObject({ ok: true, status: 200 });
  const logged = calls.filter((call) => call.startsWith("log "));
  const [found = "", refused = ""] = logged.map((call) => (JSON.parse(call.slice(4)) as { text: string }).text);
  expect(JSON.parse(found)).toEqual([]);
  expect(refused).toBe("not granted");
});

test("an interrupt aborts the signal", async () => {
  const code = createCode(`
    await new Promise((resolve) => ctx.signal.addEventListener("abort", resolve));
    console.log("aborted:", ctx.signal.reason.message);
  `);
  const { outcome, output } = await send({ code, payload, interruptMs: 50 });
  expect(outcome).toMatchObject({ ok: true });
  expect(output).toBe("aborted: stopped\n");
});

test("code that ignores an interrupt is no longer waited for", async () => {
  const { outcome } = await send({
    code: createCode("await new Promise(() => setInterval(() => {}, 100));"),
    payload,
    interruptMs: 50,
  });
  expect(outcome).toEqual({ rejected: "stopped" });
});

test("a stub that is kept is useless after its request", async () => {
  const code = createCode(
    `
    if (message.content === "keep") { kept = ctx; return; }
    await kept.storage.get("x").then(() => ctx.log.info("worked"), (error) => ctx.log.info(error.message));
  `,
    "let kept;",
  );
  const keep = { ...message, content: "keep" };
  await send({ code, payload: { ...payload, message: keep, messages: [keep] }, isolateId: "kept" });
  const { calls } = await send({ code, payload, isolateId: "kept" });
  expect(calls).toEqual([expect.not.stringContaining("worked")]);
});
