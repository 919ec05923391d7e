import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { run } from "./run.ts";

let folder: string;
let server: Server | undefined;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "thinkery-run-"));
});

afterEach(async () => {
  await new Promise((resolve) => (server ? server.close(resolve) : resolve(undefined)));
  server = undefined;
  await rm(folder, { recursive: true });
});

async function runThinkery(argv: string[], env: Record<string, string> = {}) {
  const written = { out: "", err: "" };
  const code = await run({
    argv,
    env: { THINKERY_HOME: join(folder, "home"), ...env },
    cwd: folder,
    entry: join(folder, "thinkery.js"),
    version: "0.1.0+test",
    stdout: { write: (text) => (written.out += text) },
    stderr: { write: (text) => (written.err += text) },
    isInteractive: false,
    takeOverInterrupts: () => {},
  });
  return { code, ...written };
}

/** A host that sends the same response to every request and records the requests. */
async function startFakeHost(status: number, body: unknown) {
  const requests: { route: string; authorization: string | undefined }[] = [];
  server = createServer((request, response) => {
    requests.push({ route: `${request.method} ${request.url}`, authorization: request.headers.authorization });
    response.writeHead(status, { "content-type": "application/json", connection: "close" });
    response.end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server?.listen(0, "127.0.0.1", resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests };
}

test("an unknown command gets a suggestion on stderr and exit code 2", async () => {
  const { code, out, err } = await runThinkery(["strat"]);
  expect({ code, out }).toEqual({ code: 2, out: "" });
  expect(err).toContain("unknown command 'strat' (Did you mean start?)");
});

test("an unknown option gets a suggestion, also in subcommands", async () => {
  expect((await runThinkery(["start", "--prot", "1"])).err).toContain("Did you mean --port?");
  const { code, err } = await runThinkery(["token", "new", "x", "--scop", "read"]);
  expect(code).toBe(2);
  expect(err).toContain("Did you mean --scope?");
});

test("missing arguments, excess arguments and invalid values are usage errors", async () => {
  for (const argv of [
    ["new"],
    ["rm", "a", "b"],
    ["start", "--port", "x"],
    ["completion", "tcsh"],
    ["ls", "a", "b"],
    ["agency"],
  ]) {
    expect((await runThinkery(argv)).code, argv.join(" ")).toBe(2);
  }
});

test("with --json an error is JSON on stdout", async () => {
  const { code, out } = await runThinkery(["frobnicate", "--json"]);
  expect(code).toBe(2);
  expect(JSON.parse(out).error.code).toBe("bad_request");
});

test("help goes to stdout with exit code 0 and has examples", async () => {
  for (const argv of [[], ["--help"], ["help"], ["start", "--help"], ["agency", "rm", "-h"], ["help", "ls"]]) {
    const { code, out, err } = await runThinkery(argv);
    expect({ code, err }, argv.join(" ")).toEqual({ code: 0, err: "" });
    expect(out, argv.join(" ")).toContain("Examples:");
  }
});

test("status, stop and logs create nothing in a home without a host", async () => {
  const status = await runThinkery(["status", "--json"]);
  expect(status.code).toBe(3);
  expect(JSON.parse(status.out)).toEqual({ running: false });
  expect((await runThinkery(["stop"])).code).toBe(0);
  expect((await runThinkery(["logs"])).code).toBe(1);
  expect(await readdir(folder)).toEqual([]);
});

test("with THINKERY_URL the command calls that host with THINKERY_TOKEN", async () => {
  const { url, requests } = await startFakeHost(200, { agents: [], approvals: [], questions: [] });
  const { code, out, err } = await runThinkery(["ls", "@review", "--json"], {
    THINKERY_URL: `${url}/`,
    THINKERY_TOKEN: "t0ken",
  });
  expect({ code, err }).toEqual({ code: 0, err: "" });
  expect(JSON.parse(out)).toEqual({ agents: [] });
  expect(requests).toContainEqual({ route: "GET /agency/review/agents?limit=500", authorization: "Bearer t0ken" });
  expect(requests.every(({ authorization }) => authorization === "Bearer t0ken")).toBe(true);
});

test("a remote host that denies access or is unreachable exits with 3, and no local host is started", async () => {
  const { url } = await startFakeHost(401, { error: { code: "unauthorized", message: "This needs a token." } });
  expect(await runThinkery(["ls"], { THINKERY_URL: url, THINKERY_TOKEN: "x" })).toMatchObject({
    code: 3,
    err: "thinkery: This needs a token.\n",
  });
  expect((await runThinkery(["ls"], { THINKERY_URL: url })).err).toContain("THINKERY_TOKEN is not");
  expect((await runThinkery(["ls"], { THINKERY_URL: "http://127.0.0.1:1", THINKERY_TOKEN: "x" })).code).toBe(3);
  expect((await runThinkery(["start"], { THINKERY_URL: url })).code).toBe(2);
  expect(await readdir(folder)).toEqual([]);
});

test("a public address requires a long token", async () => {
  const { code, err } = await runThinkery(["start", "--host", "0.0.0.0", "--foreground"], {
    THINKERY_TOKEN: "x".repeat(31),
  });
  expect(code).toBe(2);
  expect(err).toContain("at least 32 characters");
});

test("an invalid configuration fails the start before anything runs", async () => {
  await writeFile(join(folder, "thinkery.jsonc"), '{\n  "prot": 1\n}');
  const { code, err } = await runThinkery(["start", "--foreground"]);
  expect(code).toBe(2);
  expect(err).toContain("line 2, column 3: unknown key “prot”; did you mean “port”?");
});

test("the configuration schema is valid JSON", async () => {
  const { code, out } = await runThinkery(["config", "schema"]);
  expect(code).toBe(0);
  expect(Object.keys(JSON.parse(out).properties)).toEqual([
    "$schema",
    "port",
    "host",
    "sandboxSlots",
    "agentSlots",
    "maxFailuresPerMinute",
    "stallTimeoutSeconds",
    "startTimeoutSeconds",
    "allowedHosts",
    "allowedOrigins",
    "toolOrigins",
    "model",
    "models",
    "reasoning",
    "providers",
    "worker",
    "prices",
    "contextTokens",
    "policy",
    "turn",
    "subagents",
    "sandbox",
    "linux",
    "workspace",
  ]);
});

test("secrets from the environment are not printed", async () => {
  const env = { OPENAI_API_KEY: "sk-very-secret", THINKERY_TOKEN: "token-very-secret" };
  for (const argv of [["config", "show"], ["config", "show", "--json"], ["doctor"], ["doctor", "--json"]]) {
    const { out, err } = await runThinkery(argv, env);
    expect(out, argv.join(" ")).toContain("openai");
    expect(out + err).not.toContain("very-secret");
  }
});
