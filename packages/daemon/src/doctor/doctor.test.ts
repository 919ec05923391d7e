import { chmod, mkdir, mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { locateHome } from "../home/home.ts";
import { checkBrowser } from "./browser.ts";
import { runChecks } from "./doctor.ts";
import { checkModels } from "./models.ts";
import { checkNode } from "./node.ts";
import { checkBubblewrap, checkCommandLimits, checkPrlimit } from "./sandbox.ts";

let folder: string;
let home: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "thinkery-doctor-"));
  home = join(folder, "home");
});

afterEach(() => rm(folder, { recursive: true }));

async function findFinding(name: string) {
  const findings = await runChecks({ env: { THINKERY_HOME: home, PATH: process.env.PATH }, cwd: folder, version: "1" });
  return findings.find((finding) => finding.name === name);
}

test("an outdated Node fails and says what to install", () => {
  expect(checkNode(undefined, "20.18.9")).toMatchObject({ state: "fail", fix: expect.stringContaining("20.19") });
  for (const version of ["20.19.0", "22.1.0", "100.0.0"]) expect(checkNode(undefined, version).state).toBe("ok");
});

test("the workerd binary is found and run", async () => {
  expect(await findFinding("workerd")).toMatchObject({ state: "ok", message: expect.stringMatching(/^workerd \d/) });
});

test("checking a missing home does not create it", async () => {
  expect(await findFinding("data folder")).toMatchObject({
    state: "ok",
    message: expect.stringContaining("on first start"),
  });
  await expect(stat(home)).rejects.toThrow("ENOENT");
});

test("a home readable by others is reported and its permissions are fixed", async () => {
  await mkdir(home);
  await chmod(home, 0o755);
  expect(await findFinding("data folder")).toMatchObject({ state: "warn" });
  expect((await stat(home)).mode & 0o777).toBe(0o700);
});

test("a home of a newer Thinkery fails and is not changed", async () => {
  await mkdir(home, { mode: 0o700 });
  await writeFile(join(home, "format.json"), '{"format":999}');
  expect(await findFinding("data folder")).toMatchObject({ state: "fail", message: expect.stringContaining("newer") });
});

test("an invalid configuration fails with its line, and the other checks still run", async () => {
  await writeFile(join(folder, "thinkery.jsonc"), '{\n"port": "x"\n}');
  expect(await findFinding("configuration")).toMatchObject({
    state: "fail",
    message: expect.stringContaining("line 2"),
  });
  expect(await findFinding("models")).toBeDefined();
});

test("a configured Worker that cannot run fails with the reason; without one the built-in is used", async () => {
  expect(await findFinding("Worker")).toEqual({ name: "Worker", state: "ok", message: "built-in" });
  await mkdir(home);
  await writeFile(join(home, "config.jsonc"), '{ "worker": "../agents/worker.ts" }');
  expect(await findFinding("Worker")).toMatchObject({
    state: "fail",
    message: expect.stringContaining(`There is no file ${folder}/agents/worker.ts`),
  });
  await mkdir(join(folder, "agents"));
  await writeFile(join(folder, "agents", "worker.ts"), "export class Think {}");
  expect(await findFinding("Worker")).toMatchObject({
    state: "fail",
    message: expect.stringContaining("Cannot find @thinkery/runtime"),
    fix: expect.stringContaining("config.jsonc"),
  });
});

test("a configured port in use by another program fails", async () => {
  const other: Server = createServer();
  await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
  const { port } = other.address() as { port: number };
  await mkdir(home);
  await writeFile(join(home, "config.jsonc"), JSON.stringify({ port }));
  try {
    expect(await findFinding("port")).toMatchObject({
      state: "fail",
      message: expect.stringContaining(`${port} is already in use`),
    });
  } finally {
    await new Promise((resolve) => other.close(resolve));
  }
  expect(await findFinding("port")).toMatchObject({ state: "ok" });
});

test("missing programs are warnings that say how to install them", async () => {
  const env = { PATH: folder };
  for (const finding of [checkPrlimit({ env, platform: "linux" }), await checkBubblewrap({ env, platform: "linux" })]) {
    expect(finding).toMatchObject({ state: "warn", fix: expect.stringContaining("apt-get install") });
  }
  await writeFile(join(folder, "chromium"), "", { mode: 0o755 });
  expect(checkBrowser({ env })).toMatchObject({ state: "ok", message: join(folder, "chromium") });
});

test.runIf(process.platform === "linux")("bubblewrap is tested, and a failure includes its error output", async () => {
  const env = { PATH: folder };
  const program = join(folder, "bwrap");
  await writeFile(program, "#!/bin/sh\nexit 0\n", { mode: 0o755 });
  expect(await checkBubblewrap({ env })).toEqual({ name: "bubblewrap", state: "ok", message: program });
  await writeFile(program, "#!/bin/sh\necho bwrap: No permissions to create new namespace >&2\nexit 1\n");
  const finding = await checkBubblewrap({ env });
  expect(finding).toMatchObject({ state: "warn", fix: expect.stringContaining("user namespaces") });
  expect(finding.message).toContain("does not work on this machine (bwrap: No permissions to create new namespace)");
  expect((await checkBubblewrap({ env, platform: "darwin" })).message).toContain("only exists on Linux");
});

test("providers are named, their keys are not", async () => {
  const check = (env: Record<string, string>) =>
    checkModels({ env, cwd: folder, home: locateHome({ THINKERY_HOME: home }) });
  const finding = await check({ OPENAI_API_KEY: "sk-1234" });
  expect(finding).toMatchObject({ state: "ok", message: expect.stringContaining("openai") });
  expect(JSON.stringify(finding)).not.toContain("sk-1234");
  expect(await check({ LLM_API_BASE: "not an address" })).toMatchObject({ state: "fail" });
  await mkdir(home);
  await writeFile(
    join(home, "config.jsonc"),
    '{ "model": "box:x", "providers": { "box": { "baseUrl": "http://10.0.0.1/v1" } } }',
  );
  expect(await check({})).toMatchObject({ state: "ok", message: expect.stringMatching(/box.*default: box:x/) });
  await writeFile(join(home, "config.jsonc"), '{ "models": { "vision": "opnai:x" } }');
  expect(await check({})).toMatchObject({
    state: "fail",
    message: expect.stringMatching(/“models\.vision”.*Did you mean “openai:x”/),
  });
});

test("without a provider there is a warning that says what to set", async () => {
  const env = { LLM_API_KEY: "x" };
  const { state, message, fix } = await checkModels({ env, cwd: folder, home: locateHome({ THINKERY_HOME: home }) });
  // A model server may be running on the test machine.
  if (state === "warn") expect([message, fix].join()).toContain("LLM_API_BASE");
  else expect(message).toMatch(/Ollama|LM Studio/);
});

test("the limits of commands are reported", () => {
  const state = process.platform === "linux" ? "ok" : "warn";
  expect(checkCommandLimits()).toMatchObject({ name: "command limits", state });
  expect(checkCommandLimits({ platform: "darwin" })).toMatchObject({ state: "warn" });
});
