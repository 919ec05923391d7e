import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createClient } from "@thinkery/sdk/client";
import { startHost } from "@thinkery/sdk/test";
import { afterEach, beforeEach, expect, onTestFinished, test } from "vitest";
import { createHomePath, startHostProcess, type CliResult, removeHome, runCli } from "../kit/host-process.ts";
import { openModelServer } from "../kit/model-server.ts";
import { findMain, findHomeProcesses } from "../kit/processes.ts";
import { waitUntil } from "../kit/wait-until.ts";

/** A custom Worker whose agents have a tool `greet` that returns the given text. */
const createGreetingWorker = (greeting: string) => `
import { Think as Base } from "@thinkery/runtime";
import { defineTool, type Tool } from "@thinkery/sdk";
import { z } from "zod";
export { Agency, User, Supervision, handler as default } from "@thinkery/runtime";

export class Think extends Base {
  protected override getCustomTools(): readonly Tool[] {
    return [defineTool({ name: "greet", description: "Greets.", inputSchema: z.object({}), idempotent: true }, () => ${JSON.stringify(greeting)})];
  }
}
`;

const greet = [{ steps: [{ call: { tool: "greet", input: {} } }, { text: "I say: {{ results.greet }}" }] }];

let folder: string;
let entry: string;
let home: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "product-"));
  await symlink(fileURLToPath(new URL("../../node_modules", import.meta.url)), join(folder, "node_modules"));
  entry = join(folder, "worker.ts");
  await writeFile(entry, createGreetingWorker("hello"));
  home = await createHomePath();
  await mkdir(join(home, "scripts"), { recursive: true, mode: 0o700 });
  await writeFile(join(home, "scripts", "greet.yaml"), JSON.stringify(greet));
});

afterEach(async () => {
  await runCli(["stop"], home);
  await removeHome(home);
  await rm(folder, { recursive: true, force: true });
});

const thinkery = (...args: string[]): Promise<CliResult> => runCli(args, home, { cwd: folder });

async function runJson(...args: string[]) {
  const { code, stdout, stderr } = await thinkery(...args, "--json");
  expect({ args, code, stderr: code === 0 ? "" : stderr }).toEqual({ args, code: 0, stderr: "" });
  return JSON.parse(stdout);
}

const runAndGetReply = async () => (await thinkery("run", "ann", "hi")).stdout.trim();

test("a host runs a custom Worker, and only local commands show its path", async () => {
  const { url } = await runJson("start", "--port", "0", "--worker", "worker.ts");
  await runJson("new", "ann", "-m", "scripted:greet");
  expect(await runAndGetReply()).toBe("I say: hello");

  const { worker } = await runJson("status");
  expect(worker).toMatch(/^own\+[0-9a-f]{8}$/);
  expect((await thinkery("status")).stdout).toContain(`${entry} (${worker})`);
  expect(await runJson("info", "ann")).toMatchObject({ worker: entry });
  expect((await thinkery("doctor")).stdout).toContain(`Worker: ${entry}`);
  const token = (await readFile(join(home, "token"), "utf8")).trim();
  const health = await fetch(`${url}/health`, { headers: { authorization: `Bearer ${token}` } }).then((response) =>
    response.text(),
  );
  expect(health).toContain(worker);
  expect(health).not.toContain(folder);
  expect(await fetch(`${url}/health`).then((response) => response.text())).not.toContain("own");
});

test("a host keeps its Worker until it is restarted with another or with the stock one", async () => {
  await runJson("start", "--port", "0", "--worker", "worker.ts");
  await runJson("new", "ann", "-m", "scripted:greet");
  const again = await thinkery("start", "--worker", "other.ts");
  expect(again).toMatchObject({ code: 2, stderr: expect.stringContaining("There is no file") });
  await writeFile(join(folder, "other.ts"), createGreetingWorker("other"));
  expect((await thinkery("start", "--worker", "other.ts")).stderr).toContain("The host keeps its current Worker");

  await writeFile(entry, createGreetingWorker("hello again"));
  expect(await runAndGetReply()).toBe("I say: hello");
  await runJson("restart");
  expect(await runAndGetReply()).toBe("I say: hello again");
  await runJson("restart", "--worker", "other.ts");
  expect(await runAndGetReply()).toBe("I say: other");
  await runJson("restart", "--no-worker");
  expect(await runJson("status")).not.toHaveProperty("worker");
  expect(await runAndGetReply()).not.toContain("other");
  // Four starts with three bundles take long on a busy machine.
}, 120_000);

test("a restart with a Worker that does not build leaves the running host alone", async () => {
  const { pid } = await runJson("start", "--port", "0", "--worker", entry);
  await writeFile(join(folder, "broken.ts"), "export const x = ;\n");
  const result = await thinkery("restart", "--worker", "broken.ts");
  expect(result.code).toBe(2);
  expect(result.stderr).toContain(`${folder}/broken.ts:1:18: Unexpected ";"`);
  expect(result.stderr).toContain("export const x = ;");
  expect(await runJson("status")).toMatchObject({ running: true, pid });
});

test("a start with a Worker that throws reports the error and leaves nothing running", async () => {
  await writeFile(entry, `${createGreetingWorker("never")}\nthrow new Error("not today");`);
  const result = await thinkery("start", "--port", "0", "--worker", entry);
  expect(result.code).toBe(3);
  expect(result.stderr).toMatch(
    new RegExp(`^thinkery: The Worker ${entry} failed to load: Error: not today \\(at main\\.js:\\d+:\\d+\\)\\.\\n$`),
  );
  expect(findHomeProcesses(home)).toEqual([]);
});

test("the Worker can be configured in the data folder, but not in the working folder", async () => {
  await writeFile(join(home, "config.jsonc"), JSON.stringify({ worker: entry }));
  // Any command starts the host.
  await runJson("new", "ann", "-m", "scripted:greet");
  expect(await runAndGetReply()).toBe("I say: hello");
  expect(await runJson("config", "show")).toMatchObject({ config: { worker: entry } });
  await runJson("restart", "--no-worker");
  expect(await runAndGetReply()).not.toContain("hello");
  await runJson("stop");
  await rm(join(home, "config.jsonc"));
  await writeFile(join(folder, "thinkery.jsonc"), '{ "worker": "worker.ts" }');
  expect(await thinkery("start")).toMatchObject({ code: 2, stderr: expect.stringContaining("may not set “worker”") });
});

test("after a crash of main the same Worker continues, even if its file has changed", async () => {
  const host = await startHostProcess({ home, args: ["--port", "0", "--worker", entry] });
  onTestFinished(() => host.stop());
  await host.runCli(["new", "ann", "-m", "scripted:greet"]);
  await writeFile(entry, "not even TypeScript");
  const main = await waitUntil("main", () => findMain(home));
  process.kill(main.pid, "SIGKILL");
  await waitUntil("another main", () => findMain(home, main.pid));
  expect((await host.runCli(["run", "ann", "hi"])).stdout.trim()).toBe("I say: hello");
});

test("a turn that runs while a watched Worker changes continues with the new one", async () => {
  const models = await openModelServer();
  onTestFinished(() => models.stop());
  models.answer({ text: "So. ", fault: { kind: "stall", phase: "text" } });
  const host = await startHostProcess({
    home,
    args: ["--port", "0", "--worker", entry, "--watch"],
    env: { LLM_API_BASE: `${models.url}/v1`, LLM_API_KEY: "x" },
  });
  onTestFinished(() => host.stop());
  const client = createClient({ url: host.url, token: host.token });
  const ann = await client.agents().create({ name: "ann", model: "openai:test-model" });
  const turn = await ann.send("Greet me.");
  await waitUntil("the model call", () => models.countCalls());
  const before = (await client.call("health")).worker;

  models.answer([{ toolCalls: [{ name: "greet", input: {} }] }, { text: "Done." }]);
  await writeFile(entry, createGreetingWorker("good evening"));
  await waitUntil("main with the changed Worker", async () => {
    const { worker } = await client.call("health");
    return worker !== undefined && worker !== before;
  });
  expect(await turn.outcome()).toMatchObject({ status: "completed", content: expect.stringContaining("Done.") });
  const results = (await ann.messages()).messages.flatMap(({ toolResult }) => (toolResult ? [toolResult.preview] : []));
  expect(results.join()).toContain("good evening");
  expect((await client.call("health")).restarts).toBe(0);
  expect(host.readOutput()).toContain("The Worker has changed; restarting main.");
});

test("a test host runs a custom Worker", async () => {
  await using host = await startHost({ worker: entry, scripts: { greet } });
  const ann = await host.agent("ann", { model: "scripted:greet" });
  expect(await (await ann.send("hi")).outcome()).toMatchObject({ content: "I say: hello" });
  await host.kill();
  expect(await (await ann.send("hi")).outcome()).toMatchObject({ content: "I say: hello" });
});
