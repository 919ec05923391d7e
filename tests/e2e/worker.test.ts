import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createClient } from "@thinkery/sdk/client";
import { startHost } from "@thinkery/sdk/test";
import { afterEach, beforeEach, expect, onTestFinished, test } from "vitest";
import { emptyHome, openHouse, type Ran, removeHome, runCli } from "../kit/house.ts";
import { openModelServer } from "../kit/model-server.ts";
import { mainOf, processesOf } from "../kit/processes.ts";
import { until } from "../kit/until.ts";

/** A product of somebody's own: its agents can greet, each in the words of the Worker that runs. */
const greeting = (words: string) => `
import { Think as Base } from "@thinkery/runtime";
import { defineTool, type Tool } from "@thinkery/sdk";
import { z } from "zod";
export { Agency, User, Supervision, handler as default } from "@thinkery/runtime";

export class Think extends Base {
  protected override getCustomTools(): readonly Tool[] {
    return [defineTool({ name: "greet", description: "Greets.", inputSchema: z.object({}), idempotent: true }, () => ${JSON.stringify(words)})];
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
  await writeFile(entry, greeting("hello"));
  home = await emptyHome();
  await mkdir(join(home, "scripts"), { recursive: true, mode: 0o700 });
  await writeFile(join(home, "scripts", "greet.yaml"), JSON.stringify(greet));
});

afterEach(async () => {
  await runCli(["stop"], home);
  await removeHome(home);
  await rm(folder, { recursive: true, force: true });
});

const thinkery = (...args: string[]): Promise<Ran> => runCli(args, home, { cwd: folder });

async function json(...args: string[]) {
  const { code, stdout, stderr } = await thinkery(...args, "--json");
  expect({ args, code, stderr: code === 0 ? "" : stderr }).toEqual({ args, code: 0, stderr: "" });
  return JSON.parse(stdout);
}

const heard = async () => (await thinkery("run", "ann", "hi")).stdout.trim();

test("a host runs a Worker of one's own; where that lies is known on this machine only", async () => {
  const { url } = await json("start", "--port", "0", "--worker", "worker.ts");
  await json("new", "ann", "-m", "scripted:greet");
  expect(await heard()).toBe("I say: hello");

  const { worker } = await json("status");
  expect(worker).toMatch(/^own\+[0-9a-f]{8}$/);
  expect((await thinkery("status")).stdout).toContain(`${entry} (${worker})`);
  expect(await json("info", "ann")).toMatchObject({ worker: entry });
  expect((await thinkery("doctor")).stdout).toContain(`Worker: ${entry}`);
  const token = (await readFile(join(home, "token"), "utf8")).trim();
  const health = await fetch(`${url}/health`, { headers: { authorization: `Bearer ${token}` } }).then((answer) => answer.text());
  expect(health).toContain(worker);
  expect(health).not.toContain(folder);
  expect(await fetch(`${url}/health`).then((answer) => answer.text())).not.toContain("own");
});

test("a host stays with its Worker until it is restarted with another, or with the stock one", async () => {
  await json("start", "--port", "0", "--worker", "worker.ts");
  await json("new", "ann", "-m", "scripted:greet");
  const again = await thinkery("start", "--worker", "other.ts");
  expect(again).toMatchObject({ code: 2, stderr: expect.stringContaining("There is no file") });
  await writeFile(join(folder, "other.ts"), greeting("other"));
  expect((await thinkery("start", "--worker", "other.ts")).stderr).toContain("It goes on with the Worker it has");

  await writeFile(entry, greeting("hello again"));
  expect(await heard()).toBe("I say: hello");
  await json("restart");
  expect(await heard()).toBe("I say: hello again");
  await json("restart", "--worker", "other.ts");
  expect(await heard()).toBe("I say: other");
  await json("restart", "--no-worker");
  expect(await json("status")).not.toHaveProperty("worker");
  expect(await heard()).not.toContain("other");
  // Four starts with three bundles, on a machine that has other things to do.
}, 120_000);

test("a running host is not stopped for a Worker that does not build", async () => {
  const { pid } = await json("start", "--port", "0", "--worker", entry);
  await writeFile(join(folder, "broken.ts"), "export const x = ;\n");
  const refused = await thinkery("restart", "--worker", "broken.ts");
  expect(refused.code).toBe(2);
  expect(refused.stderr).toContain(`${folder}/broken.ts:1:18: Unexpected ";"`);
  expect(refused.stderr).toContain("export const x = ;");
  expect(await json("status")).toMatchObject({ running: true, pid });
});

test("a start with a Worker that throws says what it threw, and leaves nothing running", async () => {
  await writeFile(entry, `${greeting("never")}\nthrow new Error("not today");`);
  const refused = await thinkery("start", "--port", "0", "--worker", entry);
  expect(refused.code).toBe(3);
  expect(refused.stderr).toMatch(new RegExp(`^thinkery: The Worker ${entry} cannot be loaded: Error: not today \\(at main\\.js:\\d+:\\d+\\)\\.\\n$`));
  expect(processesOf(home)).toEqual([]);
});

test("the configuration of the data folder names a Worker for every start, the working folder's may not", async () => {
  await writeFile(join(home, "config.jsonc"), JSON.stringify({ worker: entry }));
  // Any command starts the host.
  await json("new", "ann", "-m", "scripted:greet");
  expect(await heard()).toBe("I say: hello");
  expect(await json("config", "show")).toMatchObject({ config: { worker: entry } });
  await json("restart", "--no-worker");
  expect(await heard()).not.toContain("hello");
  await json("stop");
  await rm(join(home, "config.jsonc"));
  await writeFile(join(folder, "thinkery.jsonc"), '{ "worker": "worker.ts" }');
  expect(await thinkery("start")).toMatchObject({ code: 2, stderr: expect.stringContaining("may not set “worker”") });
});

test("after a crash of main the same Worker goes on, whatever its file says by then", async () => {
  const house = await openHouse({ home, args: ["--port", "0", "--worker", entry] });
  onTestFinished(() => house.stop());
  await house.run(["new", "ann", "-m", "scripted:greet"]);
  await writeFile(entry, "not even TypeScript");
  const main = await until("main", () => mainOf(home));
  process.kill(main.pid, "SIGKILL");
  await until("another main", () => mainOf(home, main.pid));
  expect((await house.run(["run", "ann", "hi"])).stdout.trim()).toBe("I say: hello");
});

test("a turn that runs while a watched Worker changes goes on with the new one", async () => {
  const models = await openModelServer();
  onTestFinished(() => models.stop());
  models.answer({ text: "So. ", fault: { kind: "stall", phase: "text" } });
  const house = await openHouse({ home, args: ["--port", "0", "--worker", entry, "--watch"], env: { LLM_API_BASE: `${models.url}/v1`, LLM_API_KEY: "x" } });
  onTestFinished(() => house.stop());
  const client = createClient({ url: house.url, token: house.token });
  const ann = await client.agents().create({ name: "ann", model: "openai:test-model" });
  const turn = await ann.send("Greet me.");
  await until("the model to be asked", () => models.calls());
  const before = (await client.call("health")).worker;

  models.answer([{ toolCalls: [{ name: "greet", input: {} }] }, { text: "Done." }]);
  await writeFile(entry, greeting("good evening"));
  await until("main with the changed Worker", async () => {
    const { worker } = await client.call("health");
    return worker !== undefined && worker !== before;
  });
  expect(await turn.outcome()).toMatchObject({ status: "completed", content: expect.stringContaining("Done.") });
  const results = (await ann.messages()).messages.flatMap(({ toolResult }) => (toolResult ? [toolResult.preview] : []));
  expect(results.join()).toContain("good evening");
  expect((await client.call("health")).restarts).toBe(0);
  expect(house.printed()).toContain("The Worker has changed; main starts again with it.");
});

test("a host for a test runs a Worker of one's own", async () => {
  await using host = await startHost({ worker: entry, scripts: { greet } });
  const ann = await host.agent("ann", { model: "scripted:greet" });
  expect(await (await ann.send("hi")).outcome()).toMatchObject({ content: "I say: hello" });
  await host.kill();
  expect(await (await ann.send("hi")).outcome()).toMatchObject({ content: "I say: hello" });
});
