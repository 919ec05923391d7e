import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type HostProcess, startHostProcess } from "../kit/host-process.ts";
import { bindCli } from "../kit/scripted-host.ts";
import { waitUntil } from "../kit/wait-until.ts";

// `thinkery agent` and `thinkery settings` with real packages and a real host.

let host: HostProcess;
let folder: string;

beforeAll(async () => {
  host = await startHostProcess();
  folder = await mkdtemp(join(tmpdir(), "thinkery-agents-"));
});

afterAll(async () => {
  await host?.stop();
  await rm(folder, { recursive: true, force: true });
});

const run = (...args: string[]) => host.runCli(args, { cwd: folder });

async function runJson(...args: string[]) {
  const { code, stdout, stderr } = await run(...args, "--json");
  expect({ args, code, stderr }).toEqual({ args, code: 0, stderr: "" });
  return JSON.parse(stdout);
}

/** Creates a package from a template. */
async function initPackage(name: string, template = "counter") {
  expect(await run("agent", "init", name, "--template", template)).toMatchObject({ code: 0, stderr: "" });
  const path = (file: string) => join(folder, name, file);
  const edit = async (file: string, change: (text: string) => string) =>
    writeFile(path(file), change(await readFile(path(file), "utf8")));
  const setCapabilities = (...capabilities: string[]) =>
    edit("package.json", (text) => {
      const description = JSON.parse(text);
      return JSON.stringify({ ...description, thinkery: { ...description.thinkery, capabilities } });
    });
  return { edit, setCapabilities };
}

/** Creates a package whose agent answers with a text. */
async function initAnswer(name: string, code: string) {
  const created = await initPackage(name);
  await created.edit("src/agent.ts", () => `import { defineAgent } from "@thinkery/sdk/agent";\n${code}`);
  return created;
}

test.each(["basic", "chat", "counter", "knowledge"])(
  "the template %s is created, deployed and answers, without any configuration",
  async (template) => {
    const name = `my-${template}`;
    const created = await run("agent", "init", name, "--template", template);
    expect([created.code, created.stdout]).toEqual([0, expect.stringContaining(`thinkery agent dev ${name}`)]);
    expect(await readdir(join(folder, name))).toEqual(
      expect.arrayContaining(["package.json", "src", "README.md", "tsconfig.json", ".gitignore", ".thinkery"]),
    );
    const deployed = await run("agent", "deploy", name);
    expect(deployed).toMatchObject({ code: 0, stderr: "" });
    expect(deployed.stdout).toContain(`Deployed ${name} version 1`);
    expect(deployed.stdout).toContain(`thinkery chat ${name}`);
    const { code, stdout } = await run("run", name, "Hello");
    expect([code, stdout.trim()]).toEqual([0, expect.stringMatching(/./)]);
  },
);

test("a folder that is not empty is refused, and --force adds what is missing", async () => {
  await initPackage("full");
  const refused = await run("agent", "init", "full");
  expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining("it contains .gitignore, .thinkery")]);
  await rm(join(folder, "full/README.md"));
  expect(await runJson("agent", "init", "full", "--force")).toMatchObject({ name: "full", files: ["README.md"] });
});

test("each change is a version, unchanged code is not, and new grants are said", async () => {
  const { edit, setCapabilities } = await initPackage("versions");
  expect(await runJson("agent", "deploy", "versions")).toMatchObject({
    name: "versions",
    version: 1,
    isNew: true,
    capabilities: [],
    settings: ["unit", "loud"],
    agent: { name: "versions", isNew: true },
  });
  expect((await run("agent", "deploy", "versions")).stdout).toContain("versions is unchanged: version 1.");
  await setCapabilities("fs", "ai");
  const dryRun = await run("agent", "deploy", "versions", "--dry-run");
  expect(dryRun.stdout).toMatch(/^Nothing was deployed\. versions would become version 2 /);
  const more = await run("agent", "deploy", "versions");
  expect(more.stdout).toMatch(/^Deployed versions version 2 /);
  expect(more.stdout).toMatch(/^This version asks for more than the one before: (fs, ai|ai, fs)$/m);
  expect(more.stdout).toMatch(/^ {2}fs {2}reads and writes the files of its workspace \(new\)$/m);
  await setCapabilities("fs");
  expect((await run("agent", "deploy", "versions")).stdout).toContain("No longer granted: ai");
  await edit("src/agent.ts", (text) => text.replace("so far", "in all"));
  expect((await run("agent", "deploy", "versions")).stdout).not.toContain("asks for more");

  expect(await run("run", "versions", "Hello")).toMatchObject({ stdout: "1 messages in all.\n" });
  const back = await run("agent", "rollback", "versions");
  expect(back.stdout).toBe("versions runs version 3 again; it ran version 4. Granted: fs.\n");
  // Its state stays.
  expect(await run("run", "versions", "Hello")).toMatchObject({ stdout: "2 messages so far.\n" });
  expect((await run("agent", "rollback", "./versions", "1")).stdout).toContain("Granted: nothing.");
  expect((await run("agent", "rollback", "versions", "1")).stdout).toBe("versions already runs version 1.\n");
  expect(await run("agent", "rollback", "versions", "9")).toMatchObject({ code: 1 });

  expect((await run("agent", "ls")).stdout).toMatch(/^versions +1 +none +1 +\d{4}-\S+ +owner$/m);
  const info = await runJson("agent", "info", "versions");
  expect(info).toMatchObject({
    name: "versions",
    version: 1,
    agents: ["versions"],
    agent: { requests: { failed: 0 } },
  });
  expect(info.versions.map(({ version }: { version: number }) => version)).toEqual([4, 3, 2, 1]);
  const shown = (await run("agent", "info", "./versions")).stdout;
  expect(shown).toMatch(/^1 \(current\) +none/m);
  expect(shown).toMatch(/^ {2}requests +\d+, 0 failed/m);
});

test("tools for other agents are named as those call them", async () => {
  await initPackage("library", "knowledge");
  const deployed = await run("agent", "deploy", "library");
  expect(deployed.stdout).toContain("Tools for the agency’s other agents: library__search, library__save\n");
});

test("settings are shown, changed and reset, and what is out of range is not set", async () => {
  await initPackage("settable", "chat");
  await run("agent", "deploy", "settable");
  expect((await run("settings", "settable")).stdout).toMatch(
    /^temperature +0\.7 +default +0 to 2, in steps of 0\.1 +Temperature$/m,
  );
  const changed = await run("settings", "settable", "temperature=0.2", "instructions=Be a pirate.");
  expect(changed.stdout).toMatch(/^temperature +0\.2 +set /m);
  expect(changed.stderr).toBe("They apply from the next message on.\n");
  const wrong = await run("settings", "settable", "temperature=3", "maxSteps=none", "modle=fast");
  expect(wrong).toMatchObject({ code: 2, stdout: "" });
  expect(wrong.stderr).toBe(`thinkery: Invalid setting temperature: expected at most 2, not 3 (0 to 2, in steps of 0.1)
  maxSteps: expected a number (1 to 20, in steps of 1)
  modle: unknown setting; did you mean model?
`);
  const { settings, set } = await runJson("settings", "settable", "--unset", "temperature");
  expect([settings.temperature, set]).toEqual([0.7, { instructions: "Be a pirate." }]);
  expect(await run("settings", "setable")).toMatchObject({ code: 1, stderr: expect.stringContaining("settable?") });
});

test("what the code logs and its errors are shown with their position, and followed", async () => {
  await initAnswer(
    "logger",
    `export default defineAgent({
  onMessage({ content }, ctx) {
    ctx.log.warn("Got", { content });
    if (content === "fail") throw new Error("Broken on purpose.");
    return ctx.send("ok");
  },
});`,
  );
  await run("agent", "deploy", "logger");
  expect((await run("agent", "logs", "logger")).stdout).toBe("logger has logged nothing.\n");
  await run("run", "logger", "one");
  expect((await run("run", "logger", "fail")).code).toBe(1);
  const { stdout } = await run("agent", "logs", "./logger");
  expect(stdout).toMatch(/^\S+Z warn {2}Got \{"content":"one"\}\n\S+Z warn {2}Got/);
  expect(stdout).toMatch(/error Broken on purpose\.[^]*src\/agent\.ts:5:\d+/);
  expect(await runJson("agent", "logs", "logger", "-n", "1", "--level", "error")).toMatchObject({
    logs: [{ level: "error", version: 1 }],
  });

  const follower = bindCli(host)("agent", "logs", "logger", "-f", "--json", "-n", "0");
  await waitUntil("a line of the log", async () => {
    await run("run", "logger", "again");
    return follower.out().includes("again");
  });
  const lines = follower.out().trim().split("\n");
  expect(lines.map((line) => JSON.parse(line).text)).toEqual(lines.map(() => 'Got {"content":"again"}'));
});

test("a package is deleted with --yes once no agent uses it", async () => {
  await initPackage("doomed");
  await run("agent", "deploy", "doomed");
  expect(await run("agent", "info", "domed")).toMatchObject({ code: 1, stderr: expect.stringContaining("doomed?") });
  expect(await run("agent", "rm", "doomed", "--yes")).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("used by doomed"),
  });
  await run("rm", "doomed", "--yes");
  expect((await run("agent", "rm", "doomed", "--yes")).stdout).toBe("Deleted doomed in global.\n");
  expect(await run("agent", "info", "doomed")).toMatchObject({ code: 1 });
});

test("a package can be deployed to another agency", async () => {
  await host.runCli(["agency", "new", "review"]);
  await initPackage("elsewhere");
  const deployed = await run("agent", "deploy", "elsewhere", "--agency", "@review");
  expect(deployed.stdout).toContain("thinkery chat elsewhere@review");
  expect((await run("agent", "ls", "@review")).stdout).toContain("elsewhere");
  expect((await run("agent", "ls")).stdout).not.toContain("elsewhere");
  expect(await runJson("agent", "info", "elsewhere", "--agency", "review")).toMatchObject({ version: 1 });
  expect(await runJson("agent", "info", "elsewhere@review")).toMatchObject({ version: 1 });
});

test("a token without the scope admin cannot deploy", async () => {
  await initPackage("secret");
  for (const scope of ["read", "chat"]) {
    const { token } = await runJson("token", "new", `ci-${scope}`, "--scope", scope);
    const denied = await host.runCli(["agent", "deploy", "secret"], { cwd: folder, env: { THINKERY_TOKEN: token } });
    expect([denied.code, denied.stdout, denied.stderr]).toEqual([3, "", expect.stringContaining("admin")]);
  }
  expect((await run("agent", "ls")).stdout).not.toContain("secret");
});

test("errors of package.json name the path and exit with 2, before a host is asked", async () => {
  const { edit, setCapabilities } = await initPackage("wrong");
  await setCapabilities("ai", "net");
  await edit("package.json", (text) =>
    text.replace('"displayName"', '"displayname"').replace("src/agent.ts", "src/a.ts"),
  );
  const { code, stdout, stderr } = await run("agent", "deploy", "wrong");
  expect([code, stdout]).toEqual([2, ""]);
  expect(stderr).toMatch(
    /^thinkery: wrong\/package\.json: main: there is no file “src\/a\.ts” \(line \d+, column \d+\)$/m,
  );
  expect(stderr).toMatch(/^ {2}thinkery\.capabilities\.1: unknown capability "net"; there are ai, tools/m);
  expect(stderr).toMatch(/^ {2}thinkery\.displayname: unknown key; did you mean “displayName”\?/m);
  expect(await run("agent", "deploy", "nothing")).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("“nothing” has no package.json."),
  });
});

test("a blocked import is shown with its line, and nothing is deployed", async () => {
  await initAnswer(
    "blocked",
    'import { readFile } from "node:fs/promises";\nexport default defineAgent({ onMessage: readFile });',
  );
  const { code, stdout, stderr } = await run("agent", "deploy", "blocked");
  expect([code, stdout]).toEqual([2, ""]);
  expect(stderr)
    .toBe(`thinkery: blocked/src/agent.ts:2:26: Agents cannot import “node:fs/promises”: it is part of Node.js. Use ctx.fs for the files of the agent’s workspace (capability “fs”).
    2 │ import { readFile } from "node:fs/promises";
      ╵                          ~~~~~~~~~~~~~~~~~~
`);
  const json = await run("agent", "deploy", "blocked", "--json");
  expect(JSON.parse(json.stdout)).toMatchObject({
    error: { code: "bad_request", details: { issues: [{ path: ["blocked/src/agent.ts:2:26"] }] } },
  });
  expect(await run("agent", "info", "blocked")).toMatchObject({ code: 1 });
});

test("code that fails when it is loaded is not deployed", async () => {
  await initAnswer("failing", 'throw new Error("No luck.");\nexport default defineAgent({ onMessage() {} });');
  const { code, stderr } = await run("agent", "deploy", "failing");
  expect([code === 0, stderr]).toEqual([false, expect.stringMatching(/No luck\.[^]*src\/agent\.ts:2:\d+/)]);
  expect(await run("agent", "info", "failing")).toMatchObject({ code: 1 });
});
