import { createHash } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createClient } from "@thinkery/sdk/client";
import { startHost, type TestHost } from "@thinkery/sdk/test";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runCli } from "../kit/host-process.ts";
import { send, upgradeHeaders } from "../kit/wire.ts";

// Agent apps end to end, from their code to the response.

let host: TestHost;

const simpleApp = { code: "export default { fetch: () => new Response('by the agent') }" };

beforeAll(async () => {
  host = await startHost({
    config: { sandboxSlots: 2, sandbox: { timeoutSeconds: 3 } },
    scripts: {
      server: [{ steps: [{ call: { tool: "serveApp", input: simpleApp } }, { text: "{{ results.0 }}" }] }],
      clumsy: [
        {
          steps: [
            { call: { tool: "serveApp", input: { ...simpleApp, modules: { "../x.ts": "" } } } },
            { text: "{{ results.0 }}" },
          ],
        },
      ],
    },
  });
});

afterAll(() => host?.stop());

let agentCount = 0;

async function createAgentWithApp(code: string, modules?: Record<string, string>) {
  const agent = await host.agent(`agent-${++agentCount}`);
  await agent.putApp({ code, ...(modules ? { modules } : {}) });
  return agent;
}

const readText = async (response: Promise<Response>) => (await response).text();

/** Responds with the request it received. */
const echoApp = `export default {
  async fetch(request: Request): Promise<Response> {
    const body = Array.from(new Uint8Array(await request.arrayBuffer()));
    return Response.json({ method: request.method, url: request.url, headers: Object.fromEntries(request.headers), body });
  },
}`;

const counterApp = "let count = 0; export default { fetch: () => new Response(String(++count)) }";

test("an app is deployed to an agent and serves requests", async () => {
  const agent = await host.agent("shop");
  await expect(agent.app()).rejects.toMatchObject({
    code: "not_found",
    message: expect.stringContaining("has no app"),
  });
  await expect(agent.fetchApp()).rejects.toMatchObject({ code: "not_found" });
  const code =
    "import { greeting } from './lib/greeting.ts';\nexport default { fetch: () => new Response(greeting('world')) }";
  const modules = { "lib/greeting.ts": "export const greeting = (name: string): string => `hello ${name}`;" };
  const app = await agent.putApp({ code, modules });
  const bytes = Buffer.byteLength(code + Object.entries(modules).flat().join(""));
  expect(app).toEqual({
    version: expect.stringMatching(/^[0-9a-f]{12}$/),
    main: "main.ts",
    modules: ["lib/greeting.ts"],
    bytes,
    by: "owner",
    updatedAt: expect.any(String),
    address: "/agency/global/agent/shop/app/",
  });
  expect(await agent.app()).toEqual(app);
  const response = await agent.fetchApp();
  expect([response.status, await response.text(), response.headers.get("x-thinkery-app")]).toEqual([
    200,
    "hello world",
    app.version,
  ]);
  const viaShortRoute = await fetch(`${host.url}/agents/shop/app/x`, {
    headers: { authorization: `Bearer ${host.token}` },
  });
  expect(await viaShortRoute.text()).toBe("hello world");
  // Deploying the same code again changes nothing.
  expect(await agent.putApp({ modules, code })).toEqual(app);
  const { events } = await host.client.call("listEvents", { params: { agency: "global", agent: "shop" } });
  expect(events.filter(({ type }) => type === "app.set")).toHaveLength(1);
});

test("an app receives any method and body and returns any response", async () => {
  const agent = await createAgentWithApp(echoApp);
  const json = async (path?: string, init?: RequestInit) => (await agent.fetchApp(path, init)).json();
  expect(await json()).toMatchObject({ method: "GET", url: "http://app/", body: [] });
  expect(await json("items/a%2Fb?x=1&y=%20")).toMatchObject({ url: "http://app/items/a%2Fb?x=1&y=%20" });
  for (const method of ["POST", "PUT", "PATCH", "DELETE"]) {
    expect(
      await json("x", { method, body: new Uint8Array([0, 255, 10, 13]), headers: { "content-type": "image/png" } }),
    ).toMatchObject({ method, headers: { "content-type": "image/png" }, body: [0, 255, 10, 13] });
  }
  expect((await agent.fetchApp("x", { method: "HEAD" })).status).toBe(200);
  const tooLarge = await agent
    .fetchApp("x", { method: "POST", body: new Uint8Array(1024 * 1024 + 1) })
    .catch((error: unknown) => error);
  expect(tooLarge).toMatchObject({ code: "too_large" });

  const expectedBytes = Array.from({ length: 300_000 }, (_, index) => (index * 7) % 256);
  const responder = await createAgentWithApp(`export default { fetch(request) {
    const { pathname } = new URL(request.url);
    if (pathname === "/bytes") return new Response(Uint8Array.from({ length: 300000 }, (_, index) => (index * 7) % 256), { headers: { "content-type": "application/octet-stream", etag: '"7"' } });
    if (pathname === "/zipped") return new Response("plain enough ".repeat(100), { headers: { "content-encoding": "gzip" } });
    if (pathname === "/none") return new Response(null, { status: 204 });
    if (pathname === "/moved") return Response.redirect("http://app/bytes", 302);
    if (pathname === "/away") return Response.redirect("https://example.com/", 302);
    return new Response("no such page", { status: 404, headers: { "content-type": "text/plain" } });
  } }`);
  const bytes = await responder.fetchApp("bytes");
  expect([bytes.headers.get("content-type"), bytes.headers.get("etag")]).toEqual(["application/octet-stream", '"7"']);
  expect(Buffer.compare(Buffer.from(await bytes.arrayBuffer()), Buffer.from(expectedBytes))).toBe(0);
  expect(await readText(responder.fetchApp("zipped"))).toBe("plain enough ".repeat(100));
  expect((await responder.fetchApp("none")).status).toBe(204);
  expect((await responder.fetchApp("moved")).url).toBe(`${host.url}${(await responder.app()).address}bytes`);
  const away = await responder.fetchApp("away", { redirect: "manual" });
  expect([away.status, away.headers.get("location")]).toEqual([302, null]);
  const missing = await responder.fetchApp("x");
  expect([missing.status, await missing.text(), missing.headers.get("x-thinkery-app-error")]).toEqual([
    404,
    "no such page",
    null,
  ]);
});

test("a response streams as it is produced, and other requests are served meanwhile", async () => {
  const agent = await createAgentWithApp(`let go = false;
    export default { fetch(request) {
      if (request.url.endsWith("/go")) return new Response(String(go = true));
      const { readable, writable } = new TransformStream();
      const writer = writable.getWriter();
      const encoder = new TextEncoder();
      (async () => {
        await writer.write(encoder.encode("first,"));
        while (!go) await new Promise((resolve) => setTimeout(resolve, 5));
        await writer.write(encoder.encode("second"));
        await writer.close();
      })();
      return new Response(readable);
    } }`);
  const reader = (await agent.fetchApp("stream")).body!.pipeThrough(new TextDecoderStream()).getReader();
  expect((await reader.read()).value).toBe("first,");
  expect(await readText(agent.fetchApp("go"))).toBe("true");
  expect((await reader.read()).value).toBe("second");
});

test("an app keeps its memory between requests, and a new version starts fresh", async () => {
  const agent = await createAgentWithApp(counterApp);
  const first = await agent.app();
  expect([
    await readText(agent.fetchApp()),
    await readText(agent.fetchApp("x")),
    await readText(agent.fetchApp()),
  ]).toEqual(["1", "2", "3"]);
  const second = await agent.putApp({ code: `${counterApp} // new` });
  expect(second.version).not.toBe(first.version);
  expect([await readText(agent.fetchApp()), await readText(agent.fetchApp())]).toEqual(["1", "2"]);
  // Another agent with the same code has its own sandbox.
  expect(await readText((await createAgentWithApp(counterApp)).fetchApp())).toBe("1");
});

test("an app's errors become its response, with the location in its code", async () => {
  const agent = await createAgentWithApp("export default {\n  fetch() {\n    null.x;\n  }\n}");
  const threw = await agent.fetchApp();
  expect([threw.status, threw.headers.get("x-thinkery-app-error")]).toEqual([500, "1"]);
  expect(await threw.text()).toMatch(/TypeError.*main\.ts:3:\d+/s);
  for (const [code, pattern] of [
    ["export default {", /SyntaxError.*main\.ts:1/s],
    ["export const a = 1", /default export/],
    ["import './missing.ts'; export default { fetch() {} }", /missing\.ts/],
    ["export default { fetch: () => 'no answer' }", /Response/],
  ] as const) {
    await agent.putApp({ code });
    const response = await agent.fetchApp();
    expect([code, response.status, response.headers.get("x-thinkery-app-error")]).toEqual([code, 500, "1"]);
    expect(await response.text()).toMatch(pattern);
  }
});

test("an app that hangs, spins or exhausts its memory is stopped, and the next request is served", async () => {
  const code = `export default { async fetch(request) {
    if (request.url.endsWith("/never")) await new Promise((resolve) => setTimeout(resolve, 1e6));
    if (request.url.endsWith("/spin")) for (;;) {}
    if (request.url.endsWith("/bomb")) for (const all = [];;) all.push(new Array(1e5).fill({}));
    return new Response("well");
  } }`;
  const expectRecovery = async (path: string) => {
    const agent = await createAgentWithApp(code);
    await expect(agent.fetchApp(path)).rejects.toMatchObject({
      code: "unavailable",
      message: expect.stringContaining("The app did not respond."),
    });
    expect([path, await readText(agent.fetchApp())]).toEqual([path, "well"]);
  };
  await Promise.all(["never", "spin", "bomb"].map(expectRecovery));
  expect((await host.client.call("health")).restarts).toBe(0);
});

test("the caller's credentials never reach an app, and only harmless response headers reach the browser", async () => {
  const agent = await createAgentWithApp(echoApp);
  const secrets = {
    authorization: `Bearer ${host.token}`,
    "x-secret": host.token,
    cookie: `thinkery-1=${host.token}`,
    "x-thinkery-user": "mallory",
    "x-forwarded-for": "10.0.0.1",
    referer: `${host.url}/app/global`,
    "x-own": "fine",
  };
  const port = Number(new URL(host.url).port);
  const { address } = await agent.app();
  const echoed = await send({ port, path: `${address}x`, headers: { ...secrets, origin: host.url } });
  expect(echoed.body).not.toContain(host.token);
  expect(JSON.parse(echoed.body).headers).toEqual({ "x-own": "fine" });

  await agent.putApp({
    code: `export default { fetch: () => new Response("<p>hi", { headers: [
      ["content-type", "text/html"], ["set-cookie", "thinkery=1"], ["set-cookie", "b=2"], ["content-security-policy", "default-src *"], ["access-control-allow-origin", "*"],
      ["service-worker-allowed", "/"], ["clear-site-data", '"*"'], ["refresh", "0; url=/"], ["x-frame-options", "ALLOWALL"], ["x-thinkery-app", "fake"], ["x-own", "fine"], ["link", "</x>; rel=preload"],
    ] }) }`,
  });
  const { headers } = await send({ port, path: address, headers: { authorization: secrets.authorization } });
  const { version } = await agent.app();
  expect(headers).toMatchObject({
    "content-type": "text/html",
    "content-security-policy": "sandbox allow-scripts allow-forms; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "x-frame-options": "DENY",
    "cache-control": "no-store",
    "x-thinkery-app": version,
    "x-own": "fine",
  });
  for (const name of [
    "set-cookie",
    "access-control-allow-origin",
    "service-worker-allowed",
    "clear-site-data",
    "refresh",
    "link",
  ])
    expect([name, headers[name]]).toEqual([name, undefined]);
});

test("an app cannot use tools, the network or the host's API", async () => {
  const agent = await createAgentWithApp(`export default { async fetch(request, env) {
    const results = {};
    const attempts = { echo: () => env.echo({ a: 1 }), tool: () => env.tools.set_title({ title: "mine" }), fetch: () => env.fetch("https://example.com/"), global: () => fetch("http://127.0.0.1:${new URL(host.url).port}/health") };
    for (const [name, attempt] of Object.entries(attempts)) {
      try { results[name] = (await attempt()) ?? "nothing"; } catch (error) { results[name] = String(error.message); }
    }
    return Response.json(results);
  } }`);
  const results = await (await agent.fetchApp()).json();
  expect(results).toEqual({
    echo: { a: 1 },
    tool: "Apps cannot call tools, because tool calls need a turn.",
    fetch: expect.stringContaining("Only echo"),
    global: expect.any(String),
  });
  expect(results.global).not.toContain("status");
  expect((await agent.state()).state.title).toBeUndefined();
});

test("only its owner can reach an app, and the read scope does not allow writes", async () => {
  const agent = await createAgentWithApp(echoApp);
  const as = async (user: string, ...scopes: ("read" | "chat" | "approve")[]) => {
    const { token } = await host.client.call("createToken", { body: { name: "t", user, scopes } });
    return createClient({ url: host.url, token }).agent(agent.name);
  };
  const mallory = await as("mallory", "read", "chat");
  for (const attempt of [
    () => mallory.app(),
    () => mallory.fetchApp("x"),
    () => mallory.fetchApp("x", { method: "POST" }),
    () => mallory.putApp(simpleApp),
    () => mallory.deleteApp(),
  ]) {
    await expect(attempt()).rejects.toMatchObject({ code: "not_found" });
  }
  const reader = await as("owner", "read");
  expect((await reader.fetchApp("x")).status).toBe(200);
  expect((await reader.fetchApp("x", { method: "HEAD" })).status).toBe(200);
  for (const method of ["POST", "PUT", "PATCH", "DELETE"])
    await expect(reader.fetchApp("x", { method })).rejects.toMatchObject({ code: "forbidden" });
  await expect(reader.putApp(simpleApp)).rejects.toMatchObject({ code: "forbidden" });
  await expect(reader.deleteApp()).rejects.toMatchObject({ code: "forbidden" });
  expect((await (await as("owner", "chat")).fetchApp("x", { method: "POST" })).status).toBe(200);
  const { address } = await agent.app();
  const request = (method: string, path: string, headers = {}) =>
    send({
      port: Number(new URL(host.url).port),
      method,
      path,
      headers: { authorization: `Bearer ${host.token}`, ...headers },
    });
  expect((await request("GET", `${address}x`, { authorization: "" })).status).toBe(401);
  expect((await request("GET", address, upgradeHeaders)).body).toContain("Apps do not support WebSockets");
  expect((await request("OPTIONS", `${address}x`)).status).toBe(405);
  expect((await request("POST", address.slice(0, -1))).status).toBe(405);
});

test("an app survives a restart, a crash and a cleared conversation, until it is deleted", async () => {
  const agent = await createAgentWithApp(counterApp);
  const params = { agency: "global", agent: agent.name };
  const app = await agent.app();
  await host.kill();
  expect([await agent.app(), await readText(agent.fetchApp())]).toEqual([app, "1"]);
  await host.restart();
  expect([await agent.app(), await readText(agent.fetchApp())]).toEqual([app, "1"]);
  await host.client.call("clearMessages", { params });
  expect([await agent.app(), await readText(agent.fetchApp())]).toEqual([app, "2"]);
  const exported = await host.client.call("exportAgent", { params });
  expect(exported.app).toEqual(app);
  const [blob] = exported.events.flatMap(({ type, data }) =>
    type === "history.cleared" ? [(data.app as { blob: string }).blob] : [],
  );
  const source = await fetch(`${host.url}/agency/global/agent/${agent.name}/blobs/${blob}`, {
    headers: { authorization: `Bearer ${host.token}` },
  });
  const text = await source.text();
  expect([createHash("sha256").update(text).digest("hex"), JSON.parse(text)]).toEqual([
    blob,
    { main: "main.ts", modules: { "main.ts": counterApp } },
  ]);
  await agent.deleteApp();
  for (const attempt of [() => agent.app(), () => agent.fetchApp(), () => agent.deleteApp()])
    await expect(attempt()).rejects.toMatchObject({ code: "not_found" });
});

test("deleting an agent ends its app's requests, and a new agent of that name has no app", async () => {
  const code =
    "let count = 0; export default { fetch: (request) => (request.url.endsWith('/hang') ? new Promise((resolve) => setTimeout(resolve, 1e6)) : new Response(String(++count))) }";
  const agent = await createAgentWithApp(code);
  expect(await readText(agent.fetchApp())).toBe("1");
  await agent.delete();
  const next = await host.agent(agent.name);
  await expect(next.app()).rejects.toMatchObject({ code: "not_found" });
  await next.putApp({ code });
  expect(await readText(next.fetchApp())).toBe("1");
  const hanging = next.fetchApp("hang").catch((error: unknown) => error);
  expect(await readText(next.fetchApp())).toBe("2");
  await next.delete();
  expect(await hanging).toMatchObject({ code: "not_found" });
  await expect(next.fetchApp()).rejects.toMatchObject({ code: "not_found" });
});

test("an agent deploys its own app if its blueprint has the tool", async () => {
  await host.client.call("putBlueprint", {
    params: { agency: "global" },
    body: { name: "webmaster", tags: ["default", "apps"] },
  });
  const agent = await host.agent("web", { blueprint: "webmaster", model: "scripted:server" });
  const { content } = await (await agent.send("Put it up.")).outcome();
  const app = await agent.app();
  expect(content).toBe(`Deployed version ${app.version} at /agency/global/agent/web/app/ on this host.`);
  expect(app.by).toBe("global~web");
  expect(await readText(agent.fetchApp())).toBe("by the agent");
  expect((await agent.state()).state.tools.map(({ name }) => name)).toContain("serveApp");
  const clumsy = await host.agent("clumsy", { blueprint: "webmaster", model: "scripted:clumsy" });
  expect((await (await clumsy.send("Put it up.")).outcome()).content).toContain("use a plain path");
  const plain = await host.agent("plain", { model: "scripted:server" });
  expect((await plain.state()).state.tools.map(({ name }) => name)).not.toContain("serveApp");
});

test("the CLI deploys an app from files, shows it and removes it", async () => {
  const folder = await mkdtemp(join(tmpdir(), "thinkery-app-"));
  try {
    await writeFile(
      join(folder, "server.ts"),
      "import { words } from './words.ts'; export default { fetch: () => new Response(words) }",
    );
    await writeFile(join(folder, "words.ts"), "export const words: string = 'from files';");
    const run = async (...args: string[]) => {
      const { code, stdout, stderr } = await runCli([...args, "--json"], host.home, { cwd: folder });
      expect({ args, code, stderr }).toEqual({ args, code: 0, stderr: "" });
      return JSON.parse(stdout);
    };
    const agent = await host.agent("files");
    const deployed = await run("app", "put", "files", "server.ts", "words.ts");
    expect(deployed).toMatchObject({
      version: (await agent.app()).version,
      modules: ["words.ts"],
      url: `${host.url}/agency/global/agent/files/app/`,
    });
    expect(await readText(agent.fetchApp())).toBe("from files");
    expect(await run("app", "files")).toEqual(deployed);
    expect(await run("app", "open", "files", "--print")).toEqual(deployed);
    expect(await run("app", "rm", "files", "--yes")).toEqual({ removed: "files", agency: "global" });
    const missing = await runCli(["app", "files"], host.home);
    expect([missing.code, missing.stdout]).toEqual([1, ""]);
    expect(missing.stderr).toContain("has no app");
  } finally {
    await rm(folder, { recursive: true });
  }
});
