import http from "node:http";
import type { AddressInfo } from "node:net";
import type { Action } from "@thinkery/sdk";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openTestbed, type Testbed, type TestAgent } from "../kit/worker/testbed.ts";

// What code can reach with `fetch`: nothing without a rule, and on this machine only origins that the owner allows too.

interface Site {
  origin: string;
  requests: string[];
  stop(): void;
}

let testbed: Testbed;
let site: Site;
let foreign: Site;

async function openSite(
  respond: (request: http.IncomingMessage, response: http.ServerResponse, body: Buffer) => void,
): Promise<Site> {
  const requests: string[] = [];
  const server = http.createServer(async (request, response) => {
    requests.push(`${request.method} ${request.url}`);
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    respond(request, response, Buffer.concat(chunks));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const stop = () => {
    server.close();
    server.closeAllConnections();
  };
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests, stop };
}

beforeAll(async () => {
  foreign = await openSite((_, response) => void response.end("You should not be here."));
  site = await openSite((request, response, body) => {
    const path = request.url?.split("?")[0];
    if (path === "/elsewhere") return void response.writeHead(302, { location: `${foreign.origin}/` }).end();
    if (path === "/bytes")
      return void response
        .writeHead(200, { "content-type": "application/octet-stream" })
        .end(Buffer.from(body.map((byte) => 255 - byte)));
    if (path === "/silent") return;
    response
      .writeHead(200, { "content-type": "text/plain", "set-cookie": "a=b" })
      .end(`${request.method} ${path} ${request.headers["x-own"] ?? ""}${body}`);
  });
  testbed = await openTestbed({
    worker: new URL("../kit/worker/system.worker.ts", import.meta.url),
    config: { toolOrigins: [site.origin] },
    // The message is the code to run.
    scripts: {
      default: [
        { steps: [{ call: { tool: "executeCode", input: { code: "{{ message }}" } } }, { text: "{{ results.0 }}" }] },
      ],
    },
  });
});

afterAll(async () => {
  await testbed?.stop();
  site?.stop();
  foreign?.stop();
});

const createAgent = async (...policy: object[]) =>
  testbed.newAgent({ blueprint: await testbed.newBlueprint({ config: { policy } }) });
const allow = (match: string) => ({ tool: "fetch", match, action: "allow" });

async function run(agent: TestAgent, code: string): Promise<string> {
  const { type, data } = await agent.say(code);
  expect(type).toBe("agent.completed");
  return (data as { result: string }).result;
}

/** Returns the message of the error that `fetch` throws in the code. */
const catchFetchError = (agent: TestAgent, request: string) =>
  run(agent, `try { await fetch(${request}); return "It succeeded." } catch (error) { return error.message }`);

/** The request log, oldest first. */
const listRequests = async (agent: TestAgent): Promise<Action[]> =>
  (await testbed.api(`${agent.at}/actions?tool=fetch`)).body.actions.toReversed();

test("nothing is reachable without a rule; the error contains a rule that allows the request", async () => {
  const requestsBefore = site.requests.length;
  const agent = await createAgent();
  const message = await catchFetchError(agent, `"${site.origin}/hello?a=1"`);
  expect(message).toContain("No policy rule allows this call of fetch.");
  expect(site.requests).toHaveLength(requestsBefore);
  expect(await listRequests(agent)).toMatchObject([
    { success: false, action: "fetch", error: message, input: expect.stringContaining(`${site.origin}/hello?a=1`) },
  ]);

  const [, rule = ""] = /blueprint: (\{.*\})$/.exec(message) ?? [];
  const allowed = await createAgent(JSON.parse(rule));
  const code = `const response = await fetch("${site.origin}/hello?a=1", { headers: { "x-own": "mine" } });
    return { status: response.status, url: response.url, cookie: response.headers.get("set-cookie"), text: await response.text() };`;
  expect(JSON.parse(await run(allowed, code))).toEqual({
    status: 200,
    url: `${site.origin}/hello?a=1`,
    cookie: null,
    text: "GET /hello mine",
  });
  expect(await listRequests(allowed)).toMatchObject([
    { success: true, action: "fetch", outputSummary: `GET ${site.origin}/hello?a=1 → 200, 15 bytes` },
  ]);
});

test("a rule alone does not open this machine: its owner has to allow the origin too", async () => {
  const agent = await createAgent(allow(`* ${foreign.origin}/*`));
  expect(await catchFetchError(agent, `"${foreign.origin}/"`)).toBe(
    `fetch failed: ${new URL(foreign.origin).host} could not be reached.`,
  );
  expect(foreign.requests).toEqual([]);
  expect(await listRequests(agent)).toMatchObject([
    { success: false, error: expect.stringContaining("could not be reached") },
  ]);
});

test("a rule without methods only allows reading, and deny rules take precedence", async () => {
  const requestsBefore = site.requests.length;
  const agent = await createAgent(allow(`${site.origin}/*`), {
    tool: "fetch",
    match: `${site.origin}/admin*`,
    action: "deny",
  });
  expect(await catchFetchError(agent, `"${site.origin}/x", { method: "POST", body: "x" }`)).toContain(
    `{"tool": "fetch", "match": "POST ${site.origin}/*", "action": "allow"}`,
  );
  expect(await catchFetchError(agent, `"${site.origin}/%61dmin"`)).toBe(
    "The policy of this agent denies fetch with this input.",
  );
  expect(await catchFetchError(agent, `"${site.origin}/x", { headers: { cookie: "a=b" } }`)).toContain(
    "headers.cookie: this header cannot be set",
  );
  expect(site.requests).toHaveLength(requestsBefore);
  expect(await catchFetchError(agent, `"${site.origin}/x", { method: "HEAD" }`)).toBe("It succeeded.");
  expect((await listRequests(agent)).map(({ success }) => success)).toEqual([false, false, false, true]);
});

test("request and response bytes are unchanged", async () => {
  const agent = await createAgent(allow(`POST ${site.origin}/bytes`));
  const code = `const response = await fetch("${site.origin}/bytes", { method: "POST", body: Uint8Array.of(0, 1, 127, 128, 255) });
    return [...new Uint8Array(await response.arrayBuffer())];`;
  expect(await run(agent, code)).toBe("[255,254,128,127,0]");
});

test("a redirect is returned to the code, and following it is checked again", async () => {
  const agent = await createAgent(allow(`${site.origin}/*`));
  const code = `const { status, headers } = await fetch("${site.origin}/elsewhere");
    const next = await fetch(headers.get("location")).catch((error) => error.message);
    return { status, next };`;
  const { status, next } = JSON.parse(await run(agent, code));
  expect(status).toBe(302);
  expect(next).toContain(`"match": "${foreign.origin}/*"`);
  expect(foreign.requests).toEqual([]);
});

test("concurrent requests each have their own response and log entry", async () => {
  const agent = await createAgent(allow(`${site.origin}/*`));
  const code = `const all = Array.from({ length: 40 }, async (_, index) => (await fetch("${site.origin}/" + index)).text());
    return (await Promise.all(all)).map((text) => text.trim());`;
  expect(JSON.parse(await run(agent, code))).toEqual(Array.from({ length: 40 }, (_, index) => `GET /${index}`));
  const lines = (await listRequests(agent)).map(({ outputSummary }) => outputSummary);
  expect(lines.toSorted()).toEqual(
    Array.from(
      { length: 40 },
      (_, index) => `GET ${site.origin}/${index} → 200, ${index < 10 ? 7 : 8} bytes`,
    ).toSorted(),
  );
});

test("pending requests are canceled when the run ends, and none are made later", async () => {
  const agent = await createAgent(allow(`${site.origin}/*`));
  const code = `fetch("${site.origin}/silent"); await echo(1);
    setTimeout(() => fetch("${site.origin}/late"), 1); setTimeout(() => fetch("${site.origin}/later"), 200);
    return "Done.";`;
  expect(await run(agent, code)).toMatch(/^Done\./);
  expect(await listRequests(agent)).toMatchObject([{ success: false, error: "fetch was canceled." }]);
  expect(
    await run(
      agent,
      `await new Promise((resolve) => setTimeout(resolve, 400)); return (await fetch("${site.origin}/after")).status`,
    ),
  ).toBe("200");
  expect(site.requests.filter((line) => /late|after/.test(line))).toEqual(["GET /after"]);
});

test("neither the event log nor the request log contains request bodies, header values or secrets in URLs", async () => {
  const agent = await createAgent(allow(`* ${site.origin}/*`));
  const code = `const secret = ["hush", "hush"].join("-");
    return (await fetch("${site.origin}/?token=" + secret, { method: "POST", headers: { authorization: secret }, body: secret })).text();`;
  expect(await run(agent, code)).toContain("hush-hush");
  expect(await listRequests(agent)).toMatchObject([
    {
      input: JSON.stringify({
        method: "POST",
        url: `${site.origin}/?token=…`,
        headers: ["authorization", "content-type"],
        body: "9 bytes",
      }),
    },
  ]);
  const events = (await agent.log()).filter(({ type }) => type.startsWith("capability."));
  expect(events).toHaveLength(2);
  expect(JSON.stringify(events)).not.toContain("hush-hush");
});

test("a blueprint with an invalid rule is rejected", async () => {
  const policy = [allow("https://api.example.com/*"), allow("api.example.com")];
  expect(await testbed.api("/agency/global/blueprints", "POST", { name: "invalid", config: { policy } })).toMatchObject(
    {
      status: 400,
      body: {
        error: {
          code: "bad_request",
          details: {
            issues: [
              {
                path: ["config", "policy", 1, "match"],
                message: expect.stringContaining("https://api.example.com/v1/*"),
              },
            ],
          },
        },
      },
    },
  );
});
