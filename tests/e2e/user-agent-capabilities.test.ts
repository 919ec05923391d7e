import http from "node:http";
import type { AddressInfo } from "node:net";
import type { AgentContext } from "@thinkery/sdk/agent";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { HostProcess } from "../kit/host-process.ts";
import { ask, askJson, captureFailure, deployAgent, listMessages, startAgentHost } from "../kit/user-agent.ts";

// What the code of an agent can use only if it was granted: tools, files, the shell and the network.

let host: HostProcess;
let site: { origin: string; requests: string[]; stop(): void };

beforeAll(async () => {
  site = await openSite();
  host = await startAgentHost({ config: { toolOrigins: [site.origin] } });
});

afterAll(async () => {
  await host?.stop();
  site?.stop();
});

async function openSite() {
  const requests: string[] = [];
  const server = http.createServer(async (request, response) => {
    requests.push(`${request.method} ${request.url}`);
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    if (request.url === "/silent") return;
    const body = Buffer.concat(chunks);
    response.writeHead(200, { "content-type": "text/plain", "x-own": String(request.headers["x-own"]) });
    response.end(body.map((byte) => 255 - byte));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const stop = () => {
    server.close();
    server.closeAllConnections();
  };
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests, stop };
}

test("tools are listed with their schemas, and their results and errors come back as values and exceptions", async () => {
  const { client } = host;
  await deployAgent(
    client,
    "worker",
    {
      async onMessage({ content }, ctx) {
        if (content === "list") {
          const bash = ctx.tools.find(({ name }) => name === "bash");
          const isFrozen = Object.isFrozen(ctx.tools) && Object.isFrozen(bash);
          const { type, required } = bash?.parameters ?? {};
          const names = ctx.tools.map(({ name }) => name);
          return ctx.send(
            JSON.stringify({
              names,
              isFrozen,
              type,
              required,
              isDescribed: Boolean(bash?.description),
              keys: Object.keys(ctx.tools).length,
            }),
          );
        }
        const call = (name: string, args?: unknown) =>
          ctx.tools.execute(name, args).catch((error: Error & { tool?: string }) => ({
            name: error.name,
            tool: error.tool,
            message: error.message,
          }));
        // Calls that are made at the same time each have their own result.
        const results = await Promise.all([
          call("bash", { command: "echo one" }),
          call("executeCode", { code: "return { a: [1, null], b: 'two' }" }),
          call("bash", { command: "exit 3" }),
          call("bash", { command: 5 }),
          call("bahs", {}),
          call("bash", { command: "echo six" }),
        ]);
        await ctx.send(JSON.stringify(results));
      },
    },
    { capabilities: ["tools"] },
  );
  const listed = (await askJson(client, "worker", "list")) as { names: string[] };
  expect(listed).toMatchObject({ isFrozen: true, type: "object", required: ["command"], isDescribed: true });
  expect(listed.names).toEqual(expect.arrayContaining(["bash", "executeCode", "askUser", "write_todos"]));
  expect(listed).toMatchObject({ keys: listed.names.length });
  const results = (await askJson(client, "worker", "call")) as { message: string }[];
  expect(results).toMatchObject([
    "one",
    '{"a":[1,null],"b":"two"}',
    "exit code 3",
    { name: "ToolCallError", tool: "bash" },
    { name: "ToolCallError", tool: "bahs" },
    "six",
  ]);
  expect(results[3]?.message).toContain("command");
  expect(results[4]?.message).toContain("There is no tool “bahs”. Did you mean bash?");
  // They are calls of the conversation, with their results.
  const rows = await listMessages(client, "worker");
  expect(rows.map(([role]) => role).slice(2)).toEqual(["user", "assistant", ...Array(6).fill("tool"), "assistant"]);
});

test("files are written, read, listed, moved and deleted, as text and as bytes", async () => {
  const { client } = host;
  await deployAgent(
    client,
    "clerk",
    {
      async onMessage(_, { fs, send }) {
        const capture = (work: Promise<unknown>) => work.catch((error: Error) => `error: ${error.message}`);
        await fs.writeFile("notes/a.txt", "Grüße\n");
        await fs.writeFile("b.bin", Uint8Array.of(0, 128, 255));
        await fs.writeFile("c.bin", Uint8Array.of(9, 200, 9, 9).subarray(1, 2));
        await fs.writeFile("d.bin", Uint8Array.of(201).buffer);
        const bytes = await Promise.all(["b.bin", "c.bin", "d.bin"].map((path) => fs.readFile(path)));
        const first = {
          text: await fs.readFile("notes/a.txt"),
          bytes: bytes.map((data) => (typeof data === "string" ? data : [...data])),
          all: (await fs.list()).map(({ path, size, kind }) => [path, size, kind]),
          folder: (await fs.list("notes")).map(({ path }) => path),
          file: await fs.stat("notes/a.txt"),
          directory: (await fs.stat("notes"))?.kind,
          absent: (await fs.stat("x.txt")) === undefined,
          exists: [await fs.exists("notes/a.txt"), await fs.exists("x.txt")],
        };
        await fs.move("notes/a.txt", "moved.txt");
        await fs.delete("b.bin");
        const second = {
          left: (await fs.list()).map(({ path }) => path),
          errors: [
            await capture(fs.readFile("b.bin")),
            await capture(fs.delete("b.bin")),
            await capture(fs.move("b.bin", "c.txt")),
            await capture(fs.writeFile("../out.txt", "x")),
            await capture(fs.writeFile("e.txt", 5 as never)),
          ],
        };
        await send(JSON.stringify({ first, second }));
      },
    },
    { capabilities: ["fs"] },
  );
  const { first, second } = (await askJson(client, "clerk")) as { first: object; second: { errors: string[] } };
  expect(first).toEqual({
    text: "Grüße\n",
    bytes: [[0, 128, 255], [200], [201]],
    all: [
      ["b.bin", 3, "binary"],
      ["c.bin", 1, "binary"],
      ["d.bin", 1, "binary"],
      ["notes/a.txt", 8, "text"],
    ],
    folder: ["notes/a.txt"],
    file: expect.objectContaining({ path: "notes/a.txt", kind: "text", size: 8, mediaType: "text/plain" }),
    directory: "folder",
    absent: true,
    exists: [true, false],
  });
  expect(second).toMatchObject({ left: ["c.bin", "d.bin", "moved.txt"] });
  for (const [index, text] of ["b.bin", "b.bin", "b.bin", "..", "content"].entries())
    expect(second.errors[index]).toMatch(new RegExp(`^error: .*${text.replaceAll(".", "\\.")}`));
  expect(await (await client.agent("clerk").file("moved.txt")).text()).toBe("Grüße\n");
  const { versions } = await client.call("listVersions", { params: { agency: "global", agent: "clerk" } });
  expect(versions[0]).toMatchObject({ origin: { kind: "agent", tool: "deleteFile" }, changes: [{ path: "b.bin" }] });
});

test("the shell shares the files, and returns exit code, output and what stopped it", async () => {
  const { client } = host;
  await deployAgent(
    client,
    "sheller",
    {
      async onMessage(_, { fs, bash, send }) {
        await fs.writeFile("in.txt", "b\na\n");
        const sorted = await bash("sort in.txt | tee out.txt; echo oops >&2; exit 7");
        const slow = await bash("sleep 30", { timeoutMs: 100 }).catch((error: Error) => ({ error: error.message }));
        await send(JSON.stringify({ sorted, written: await fs.readFile("out.txt"), slow }));
      },
    },
    { capabilities: ["fs", "bash"] },
  );
  const result = (await askJson(client, "sheller")) as { slow: object };
  expect(result).toMatchObject({
    sorted: { exitCode: 7, stdout: "a\nb\n", stderr: "oops\n" },
    written: "a\nb\n",
  });
  expect(JSON.stringify(result.slow)).toMatch(/timeout|100 ms|0\.1 s|seconds/);
});

test("requests to the network need a policy rule; ctx.fetch and the global fetch are the same", async () => {
  const { client } = host;
  const requester = {
    settings: { url: { type: "text" as const, default: `${site.origin}/x` } },
    async onMessage({ content }: { content: string }, ctx: AgentContext) {
      const url = String(ctx.settings.url);
      if (content === "abort") {
        const signal = AbortSignal.timeout(50);
        const [reason] = await Promise.allSettled([ctx.fetch(url.replace("/x", "/silent"), { signal })]);
        return ctx.send(reason.status === "rejected" ? (reason.reason as Error).name : "It succeeded.");
      }
      const results: unknown[] = [];
      for (const send of [ctx.fetch, fetch]) {
        try {
          const response = await send(url, {
            method: "POST",
            headers: { "x-own": "mine" },
            body: Uint8Array.of(0, 128, 255),
          });
          results.push({
            status: response.status,
            own: response.headers.get("x-own"),
            bytes: [...new Uint8Array(await response.arrayBuffer())],
          });
        } catch (error) {
          results.push((error as Error).message);
        }
      }
      await ctx.send(JSON.stringify(results));
    },
  };
  await deployAgent(client, "requester", requester, { capabilities: ["fetch"] });
  const refused = await askJson(client, "requester");
  const reason = expect.stringContaining(`"match": "POST ${site.origin}/*"`);
  expect(refused).toEqual([reason, reason]);
  expect(site.requests).toEqual([]);
  const rules = [{ tool: "fetch", match: `GET,POST ${site.origin}/*`, action: "allow" as const, agent: "requester" }];
  await client.call("putPolicy", { params: { agency: "global" }, body: { rules } });
  const response = { status: 200, own: "mine", bytes: [255, 127, 0] };
  expect(await askJson(client, "requester")).toEqual([response, response]);
  expect(await ask(client, "requester", "abort")).toBe("TimeoutError");
  expect(site.requests).toEqual(["POST /x", "POST /x", "GET /silent"]);
});

test("what was not granted throws and says how to ask for it, whatever way the code takes", async () => {
  const { client } = host;
  await deployAgent(client, "modest", {
    async onMessage(_, ctx) {
      const url = "http://127.0.0.1:1/";
      const attempts: Record<string, () => unknown> = {
        "ai.generate": () => ctx.ai.generate("x"),
        "ai.stream": () => ctx.ai.stream({ prompt: "x" }).next(),
        tools: () => ctx.tools.execute("bash", { command: "ls" }),
        readFile: () => ctx.fs.readFile("x"),
        writeFile: () => ctx.fs.writeFile("x", "x"),
        list: () => ctx.fs.list(),
        stat: () => ctx.fs.stat("x"),
        exists: () => ctx.fs.exists("x"),
        delete: () => ctx.fs.delete("x"),
        move: () => ctx.fs.move("x", "y"),
        bash: () => ctx.bash("ls"),
        fetch: () => ctx.fetch(url),
        global: () => fetch(url),
        "channel.send": () => ctx.channel.send("x"),
        "channel.update": () => ctx.channel.update("x", "y"),
        "channel.complete": () => ctx.channel.complete("x"),
        "channel.callTool": () => ctx.channel.callTool("bash", {}),
      };
      const results: Record<string, string> = {};
      for (const [name, attempt] of Object.entries(attempts))
        results[name] = await Promise.resolve()
          .then(attempt)
          .then(
            () => "It succeeded.",
            (error: Error) => error.message,
          );
      await ctx.send(JSON.stringify({ results, tools: ctx.tools.length }));
    },
  });
  const explain = (capability: string) =>
    `The agent was not granted “${capability}”. Add it to \`thinkery.capabilities\` in package.json and deploy again.`;
  const { results, tools } = (await askJson(client, "modest")) as { results: object; tools: number };
  const capabilities = { ai: 2, tools: 1, fs: 7, bash: 1, fetch: 2, channel: 4 };
  expect(Object.values(results)).toEqual(
    Object.entries(capabilities).flatMap(([name, count]) => Array.from({ length: count }, () => explain(name))),
  );
  expect(tools).toBe(0);
  expect(await client.agent("modest").messages()).toMatchObject({ messages: [{}, { role: "assistant" }] });
});

test("a version that is granted less can do less, at once", async () => {
  const { client } = host;
  const agent = { onMessage: async (_: object, ctx: AgentContext) => ctx.send(JSON.stringify(await ctx.fs.list())) };
  const first = await deployAgent(client, "shrunk", agent, { capabilities: ["fs", "ai"] });
  expect(first).toMatchObject({ version: 1, capabilities: ["fs", "ai"], added: ["fs", "ai"], removed: [] });
  expect(await ask(client, "shrunk")).toBe("[]");
  const second = await deployAgent(client, "shrunk", agent, { capabilities: ["ai", "bash"] });
  expect(second).toMatchObject({ version: 2, isNew: true, added: ["bash"], removed: ["fs"] });
  expect((await captureFailure(client, "shrunk")).message).toMatch(/^The agent was not granted “fs”\./);
});
