import { createClient } from "@thinkery/sdk/client";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { HostProcess } from "../kit/host-process.ts";
import { isLongRun } from "../kit/sample.ts";
import { ask, captureFailure, deployAgent, sdkImport, startAgentHost } from "../kit/user-agent.ts";

// Deploys that are refused, and what their authors are told.

let host: HostProcess;

beforeAll(async () => {
  host = await startAgentHost();
});

afterAll(() => host?.stop());

const agency = { agency: "global" };
const manifest = { type: "agent", runtime: "isolate" };
const harmless = `${sdkImport}\nexport default defineAgent({ onMessage: (_, ctx) => ctx.send("Hi.") });`;

/** Returns the error of a request to deploy, and checks that nothing was deployed. */
async function captureError(body: object) {
  const { client } = host;
  const before = await client.call("listPackages", { params: agency });
  const response = await fetch(`${host.url}/agency/global/packages`, {
    method: "POST",
    headers: { authorization: `Bearer ${host.token}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  const { error } = (await response.json()) as { error: { code: string; message: string } };
  expect(await client.call("listPackages", { params: agency })).toEqual(before);
  return { status: response.status, code: error.code, message: error.message };
}

const invalid = (message: string) => ({ status: 400, code: "bad_request", message });

const onMessage = "onMessage() {}";
const withTool = (tool: string) => `export default defineAgent({ ${onMessage}, tools: { ${tool} } });`;

test.each([
  [
    "a bundle that does not parse",
    "export default defineAgent({ onMessage( }",
    `SyntaxError: Unexpected token '}' (agent.js:2:40)\n\n  2 | export default defineAgent({ onMessage( }\n    |                                        ^`,
  ],
  [
    "no default export",
    "export const agent = 1;",
    "The agent's module has no default export made with defineAgent: export default defineAgent({ … })",
  ],
  [
    "a default export that is no agent",
    "export default 5;",
    "The agent's module has no default export made with defineAgent: export default defineAgent({ … })",
  ],
  [
    "a Worker that is no agent",
    'export default { fetch: () => new Response("Hi.") };',
    "The code does not describe its agent with valid JSON. Define it with defineAgent.",
  ],
  [
    "code that throws while it loads",
    'const a = 1;\nthrow new RangeError("Not today.");',
    "RangeError: Not today.\n    at agent.js:3:7",
  ],
  [
    "a module of Node.js",
    `import fs from "node:fs";\nexport default defineAgent({ ${onMessage} });`,
    'Error: No such module "node:fs".\n  imported from "agent.js"',
  ],
  [
    "a module that was not bundled",
    `import "./other.js";\nexport default defineAgent({ ${onMessage} });`,
    'Error: No such module "other.js".\n  imported from "agent.js"',
  ],
  [
    "no onMessage",
    "export default defineAgent({});",
    "TypeError: defineAgent needs onMessage: defineAgent({ async onMessage(message, ctx) { … } })\n    at agent.js:2:16",
  ],
  [
    "too much concurrency",
    `export default defineAgent({ ${onMessage}, concurrency: 17 });`,
    "RangeError: concurrency must be a whole number from 1 to 16, not 17.\n    at agent.js:2:16",
  ],
  [
    "a window that is no whole number",
    `export default defineAgent({ ${onMessage}, history: { maxMessages: 1.5 } });`,
    "RangeError: history.maxMessages must be a whole number, not 1.5.\n    at agent.js:2:16",
  ],
  [
    "too large a window",
    `export default defineAgent({ ${onMessage}, history: { maxMessages: 5000 } });`,
    "Invalid `history.maxMessages` in the agent: Too big: expected number to be <=1000.",
  ],
  [
    "a tool without a description",
    withTool("a: { execute() {} }"),
    "TypeError: The tool “a” needs a description and an execute function.\n    at agent.js:2:16",
  ],
  [
    "a tool with a wrong name",
    withTool('"a b": { description: "x", execute() {} }'),
    "Invalid `tools.0.name` in the agent: use at most 64 letters, digits, _ and -, with a letter or _ first.",
  ],
  [
    "a tool with a long name",
    withTool(`${"a".repeat(41)}: { description: "x", execute() {} }`),
    "Invalid `tools.0.name` in the agent: Too big: expected string to have <=40 characters.",
  ],
  [
    "a recursive schema",
    withTool('a: { description: "x", parameters: { type: "object", properties: { b: { $ref: "#" } } }, execute() {} }'),
    "Invalid `tools.0.parameters` in the agent: a recursive or too large JSON schema.",
  ],
  [
    "a setting with an invalid default",
    `export default defineAgent({ ${onMessage}, settings: { a: { type: "number", min: 1, default: 0 } } });`,
    "Invalid `settings.a.default` in the agent: expected at least 1, not 0.",
  ],
  [
    "a setting of an unknown type",
    `export default defineAgent({ ${onMessage}, settings: { a: { type: "color" } } });`,
    "Invalid `settings.a.type` in the agent: Expected 'select' | 'number' | 'text' | 'toggle'.",
  ],
  [
    "a state that is no JSON",
    `export default defineAgent({ ${onMessage}, state: { a: () => 1 } });`,
    "TypeError: The initial state must be JSON: text, finite numbers, booleans, null, lists and plain objects. Found a function at a.",
  ],
  [
    "an error in the definition",
    `export default defineAgent({ ${onMessage}, get state() { throw new RangeError("No state."); } });`,
    "RangeError: No state.\n    at get state (agent.js:2:66)",
  ],
])("%s is refused", async (_, code, message) => {
  expect(await captureError({ name: "bad", manifest, code: `${sdkImport}\n${code}` })).toEqual(invalid(message));
});

test.each([
  [{ type: "tool" }, 'Invalid `manifest.type`: expected "agent".'],
  [{ runtime: "docker" }, 'Invalid `manifest.runtime`: expected "isolate".'],
  [{ runtime: undefined }, 'Invalid `manifest.runtime`: expected "isolate".'],
  [
    { capabilities: ["ai", "files"] },
    'Invalid `manifest.capabilities.1`: unknown capability "files"; there are ai, tools, fs, bash, fetch, channel. Reply, state, storage and log need none.',
  ],
  [{ capabilities: ["ai", "ai"] }, "Invalid `manifest.capabilities`: names a capability twice."],
  [{ capabilities: "ai" }, "Invalid `manifest.capabilities`: expected array, received string."],
  [{ capability: ["ai"] }, "Unknown field `manifest.capability`. Did you mean `capabilities`?"],
  [{ displayName: "" }, "Invalid `manifest.displayName`: Too small: expected string to have >=1 characters."],
  [
    { settings: { size: { type: "number", max: 3, default: 4 } } },
    "Invalid `manifest.settings.size.default`: expected at most 3, not 4.",
  ],
  [
    { settings: { unit: { type: "select", options: ["a"], default: "b" } } },
    "Invalid `manifest.settings.unit.default`: expected one of a.",
  ],
  [
    { settings: { "a b": { type: "text" } } },
    "Invalid `manifest.settings.a b`: expected a name of letters, digits and _, such as maxSteps.",
  ],
])("a manifest with %j is refused", async (fields, message) => {
  const body = { name: "bad", manifest: { ...manifest, ...fields }, code: harmless };
  expect(await captureError(body)).toEqual(invalid(message));
});

const form = "use ASCII letters and digits, with . _ - only between them.";
const reserved = "reserved (think, agency, user, sub); choose another name.";

test.each([
  ["../up", form],
  ["a/b", form],
  ["..", form],
  ["a b", form],
  ["__proto__", form],
  ["Ä", form],
  ["", "Too small: expected string to have >=1 characters."],
  ["a".repeat(65), "Too big: expected string to have <=64 characters."],
  ...["think", "agency", "user", "sub"].map((name) => [name, reserved]),
])("the name “%s” is refused", async (name = "", message = "") => {
  expect(await captureError({ name, manifest, code: harmless })).toEqual(invalid(`Invalid \`name\`: ${message}`));
});

test("code that is too large is refused, as it is and compressed", async () => {
  const long = "x".repeat(2 * 1024 * 1024);
  expect(await captureError({ name: "bad", manifest, code: `${harmless}\n// ${long}` })).toEqual(
    invalid("Invalid `code`: Too big: expected string to have <=2097152 characters."),
  );
  // Random, so that it cannot be compressed much.
  const createNoise = (parts: number) =>
    Array.from({ length: parts }, () =>
      Buffer.from(crypto.getRandomValues(new Uint8Array(48 * 1024))).toString("base64"),
    );
  const { status, code, message } = await captureError({
    name: "bad",
    manifest,
    code: `${harmless}\n// ${createNoise(28).join("")}`,
    sourceMap: createNoise(10).join(""),
  });
  expect([status, code]).toEqual([413, "too_large"]);
  expect(message).toMatch(
    /^The code and its source map have \d+ bytes compressed; the limit is 1500000\. Import less, or deploy without a source map\.$/,
  );
});

test("a package cannot take the name of a blueprint that is none, nor an agent of another kind", async () => {
  const { client } = host;
  const blueprint = { name: "taken", tags: ["default"] };
  await client.call("putBlueprint", { params: agency, body: blueprint });
  expect(await captureError({ name: "taken", manifest, code: harmless })).toEqual({
    status: 409,
    code: "conflict",
    message: "There is a blueprint “taken” that is no package. Rename the package, or it.",
  });
  await client.call("createAgent", { params: agency, body: { name: "someone" } });
  const { warnings, agent } = await deployAgent(client, "someone", harmless.replace(sdkImport, ""));
  expect(agent).toBeUndefined();
  expect(warnings.join()).toContain("There is an agent “someone” with the blueprint “think”.");
});

test("only who may administrate deploys, rolls back and deletes; who may chat changes settings", async () => {
  const { client } = host;
  await deployAgent(client, "guarded", harmless.replace(sdkImport, ""));
  for (const scope of ["read", "chat", "approve"] as const) {
    const { token } = await client.call("createToken", { body: { name: scope, user: "owner", scopes: [scope] } });
    const limited = createClient({ url: host.url, token });
    const forbidden = { code: "forbidden", message: expect.stringContaining("admin") };
    const params = { ...agency, package: "guarded" };
    await expect(deployAgent(limited, "guarded", harmless.replace(sdkImport, ""))).rejects.toMatchObject(forbidden);
    await expect(limited.call("rollbackPackage", { params, body: {} })).rejects.toMatchObject(forbidden);
    await expect(limited.call("deletePackage", { params })).rejects.toMatchObject(forbidden);
    const agent = { ...agency, agent: "guarded" };
    const change = limited.call("putSettings", { params: agent, body: { settings: {} } });
    if (scope === "chat") expect(await change).toMatchObject({ set: {} });
    else await expect(change).rejects.toMatchObject({ code: "forbidden" });
    if (scope !== "approve") expect(await limited.call("getPackage", { params })).toMatchObject({ version: 1 });
  }
});

test("a package that agents use cannot be deleted; what is missing is named, with the nearest", async () => {
  const { client } = host;
  const deletePackage = (name: string) => client.call("deletePackage", { params: { ...agency, package: name } });
  await deployAgent(client, "wanted", harmless.replace(sdkImport, ""));
  await expect(deletePackage("wanted")).rejects.toThrow("“wanted” is used by wanted. Delete this agent first.");
  expect(await ask(client, "wanted")).toBe("Hi.");
  await client.agent("wanted").delete();
  await expect(deletePackage("wantd")).rejects.toThrow("There is no package “wantd” here. Did you mean “wanted”?");
  await deletePackage("wanted");
  await expect(deletePackage("wanted")).rejects.toThrow("There is no package “wanted” here.");
  const { blueprints } = await client.call("listBlueprints", { params: agency });
  expect(blueprints.map(({ name }) => name)).not.toContain("wanted");
});

test("an agent whose package or version is not deployed says so when it is asked", async () => {
  const { client } = host;
  for (const [name, isolate, message] of [
    ["lost", { package: "nowhere" }, "The package “nowhere” is not deployed in this agency."],
    ["early", { package: "guarded", version: 7 }, "Version 7 of the package “guarded” is not deployed in this agency."],
  ] as const) {
    const body = { name, driver: "isolate", config: { isolate } };
    await client.call("putBlueprint", { params: agency, body });
    await client.call("createAgent", { params: agency, body: { name, blueprint: name } });
    expect((await captureFailure(client, name)).message).toBe(
      `${message} Deploy it: \`thinkery agent deploy <folder>\`.`,
    );
  }
});

// It takes as long as a process may be silent.
test.runIf(isLongRun())("code that does not stop while it loads is refused, and others go on", async () => {
  const { client } = host;
  await deployAgent(client, "meanwhile", harmless.replace(sdkImport, ""));
  const spinning = captureError({ name: "bad", manifest, code: `${sdkImport}\nfor (;;);` });
  expect(await ask(client, "meanwhile")).toBe("Hi.");
  expect((await spinning).message).toMatch(/^The code (did not load within 10 s|ended its process while it loaded)/);
  expect(await ask(client, "meanwhile")).toBe("Hi.");
});
