import { mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type HostProcess, startHostProcess } from "../kit/host-process.ts";
import { findMain, waitForExit } from "../kit/processes.ts";
import { bindCli } from "../kit/scripted-host.ts";
import { waitUntil } from "../kit/wait-until.ts";

// `thinkery agent dev` with a real folder and a real host.

let host: HostProcess;
let folder: string;
let packages = 0;

beforeAll(async () => {
  host = await startHostProcess();
  folder = await mkdtemp(join(tmpdir(), "thinkery-agents-"));
});

afterAll(async () => {
  await host?.stop();
  await rm(folder, { recursive: true, force: true });
});

const answer = (text: string) => `import { defineAgent } from "@thinkery/sdk/agent";
export default defineAgent({
  onMessage(message, ctx) {
    ctx.log.info("Asked", message.content);
    if (message.content === "fail") throw new Error("Broken on purpose.");
    return ctx.send("${text}");
  },
});
`;

/** Creates a package and develops it until the test ends. */
async function startDev(...flags: string[]) {
  const name = `dev-${++packages}`;
  await host.runCli(["agent", "init", name, "--template", "counter"], { cwd: folder });
  const path = (file: string) => join(folder, name, file);
  const write = (file: string, text: string) => writeFile(path(file), text);
  await write("src/agent.ts", answer("one"));
  const program = bindCli(host)("agent", "dev", join(folder, name), ...flags);
  await waitUntil("the first deploy", () => program.out().includes(name) && program.out().includes("version"));
  const ask = async (message = "Hello") => (await host.runCli(["run", name, message])).stdout.trim();
  return {
    name,
    path,
    write,
    ask,
    ...program,
    until: (text: string) => waitUntil(text, () => program.out().includes(text)),
  };
}

test("each save is deployed, and the agent answers with the new code", async () => {
  const { name, path, write, ask, out, err, until, child } = await startDev();
  expect(out()).toContain(`Deployed ${name} version 1`);
  expect(await ask()).toBe("one");
  await write("src/agent.ts", answer("two"));
  await until(`Deployed ${name} version 2 (`);
  expect(await ask()).toBe("two");
  // As most editors save.
  await write("src/agent.ts.tmp", answer("three"));
  await rename(path("src/agent.ts.tmp"), path("src/agent.ts"));
  await until(`Deployed ${name} version 3 (`);
  expect(await ask()).toBe("three");
  expect(err()).toMatch(/Watching \S+ for changes\. Press Ctrl\+C to stop\./);
  child.kill("SIGINT");
  expect(await waitForExit(child)).toBe(0);
  expect(out().match(/Deployed/g)).toHaveLength(3);
});

test("an error is shown with its position, the version before keeps running, and the correction is deployed", async () => {
  const { name, write, ask, err, child } = await startDev();
  await write("src/agent.ts", 'import fs from "fs";\nexport default fs;');
  await waitUntil("the error", () => err().includes('import fs from "fs";'));
  expect(err()).toContain(`src/agent.ts:1:16: Agents cannot import “fs”`);
  expect(await ask()).toBe("one");
  await write("src/agent.ts", "throw new Error('At load.');\n" + answer("bad"));
  await waitUntil("the refusal", () => err().includes("At load."));
  expect(await ask()).toBe("one");
  child.kill("SIGINT");
  // What the folder contains is not deployed.
  expect(await waitForExit(child)).toBe(130);
  const again = bindCli(host)("agent", "dev", join(folder, name));
  await waitUntil("the refusal", () => again.err().includes("At load."));
  await write("src/agent.ts", answer("two"));
  await waitUntil("the correction", () => again.out().includes("version 2"));
  expect(await ask()).toBe("two");
});

test("package.json counts, and what it asks for in addition is said", async () => {
  const { path, write, out, err, until, name } = await startDev();
  const description = JSON.parse(await readFile(path("package.json"), "utf8"));
  const withCapabilities = (capabilities: string[]) =>
    JSON.stringify({ ...description, thinkery: { ...description.thinkery, capabilities } });
  await write("package.json", withCapabilities(["net"]));
  await waitUntil("the error", () => err().includes("unknown capability"));
  await write("package.json", withCapabilities(["fs"]));
  await until(`Deployed ${name} version 2 (`);
  expect(err()).toContain("This version asks for more than the one before: fs\n");
  expect(out()).not.toContain("version 3");
});

test("the log of the agent is shown as it is written", async () => {
  const { ask, out, until } = await startDev();
  await ask("first");
  await until("info  Asked first");
  await ask("fail");
  await until("Broken on purpose.");
  await until("src/agent.ts:5:");
  expect(out()).toMatch(/^\d\d:\d\d:\d\d error .*Broken on purpose\./m);
});

test("--json prints a line for each event", async () => {
  const { name, write, ask, out, until, child } = await startDev("--json");
  await ask("first");
  await until("Asked first");
  await write("src/agent.ts", "export default {");
  await until('"event":"failed"');
  await write("src/agent.ts", answer("two"));
  await until('"version":2');
  child.kill("SIGINT");
  expect(await waitForExit(child)).toBe(0);
  const events = out()
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(events).toMatchObject([
    { event: "deployed", name, version: 1, ms: expect.any(Number) },
    { event: "log", level: "info", text: "Asked first" },
    { event: "failed", error: { code: "bad_request" } },
    { event: "deployed", name, version: 2 },
  ]);
});

test("many saves at once end with the newest version, without one deploy for each", async () => {
  const { write, ask, out, until } = await startDev();
  for (let index = 0; index < 50; index++) await write("src/agent.ts", answer(`save ${index}`));
  await waitUntil("the newest version", async () => (await ask()) === "save 49");
  const versions = out().match(/Deployed/g)?.length ?? 0;
  await write("src/agent.ts", answer("last"));
  await until(`version ${versions + 1} (`);
  expect(versions).toBeLessThan(25);
});

test("saves while main is gone are deployed when it is back", async () => {
  const { write, ask, until, name } = await startDev();
  process.kill(findMain(host.home)?.pid as number, "SIGKILL");
  await write("src/agent.ts", answer("two"));
  await until(`${name} version 2`);
  expect(await ask()).toBe("two");
});

test("a token without the scope admin ends it with exit code 3", async () => {
  const { name } = await startDev();
  const { stdout } = await host.runCli(["token", "new", "reader", "--scope", "read", "--json"]);
  const denied = await host.runCli(["agent", "dev", name], {
    cwd: folder,
    env: { THINKERY_TOKEN: JSON.parse(stdout).token },
  });
  expect([denied.code, denied.stderr]).toEqual([3, expect.stringContaining("admin")]);
});
