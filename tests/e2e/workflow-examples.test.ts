import { execFileSync } from "node:child_process";
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Client, createClient } from "@thinkery/sdk/client";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { createHomePath, removeHome, runCli } from "../kit/host-process.ts";
import { waitForExit } from "../kit/processes.ts";
import { spawnCli } from "../kit/spawn-cli.ts";
import { waitUntil } from "../kit/wait-until.ts";

// Each example runs as its README says: with a host that was started in the folder of the examples.

const folder = fileURLToPath(new URL("../../examples/workflows", import.meta.url));

let home: string;
let examples: string;
let client: Client;

const thinkery = (args: string[], cwd = examples) => runCli(args, home, { cwd });

beforeAll(async () => {
  home = await createHomePath();
  // A copy: nothing may be written next to the examples.
  examples = join(dirname(home), "workflows");
  await cp(folder, examples, { recursive: true });
  expect(await thinkery(["start", "--port", "0"])).toMatchObject({ code: 0 });
  const { port } = JSON.parse(await readFile(join(home, "daemon.json"), "utf8")) as { port: number };
  const token = (await readFile(join(home, "token"), "utf8")).trim();
  client = createClient({ url: `http://127.0.0.1:${port}`, token });
});

afterAll(async () => {
  await thinkery(["stop"]);
  await removeHome(home);
});

async function readDocument(agency: string, path: string): Promise<string> {
  const response = await thinkery(["doc", "read", path, "-a", `@${agency}`]);
  expect(response).toMatchObject({ code: 0 });
  return response.stdout;
}

test("code review looks at a real git diff", async () => {
  const repository = await mkdtemp(join(tmpdir(), "thinkery-review-"));
  onTestFinished(() => rm(repository, { recursive: true }));
  const git = (...args: string[]) =>
    execFileSync("git", ["-c", "user.name=Ann", "-c", "user.email=ann@example.com", ...args], { cwd: repository });
  git("init", "--quiet");
  await mkdir(join(repository, "src"));
  await writeFile(join(repository, "src/cart.js"), "export const total = 1;\n");
  git("add", ".");
  git("commit", "--quiet", "-m", "one");
  await writeFile(join(repository, "src/cart.js"), 'export const total = 2;\nconsole.log("here", total);\n');
  git("commit", "--quiet", "-am", "two");

  const file = join(examples, "code-review/review.yaml");
  const { code, stdout, stderr } = await thinkery(["run", file, "--tag", "pr-1"], repository);
  expect({ code, stderr }).toMatchObject({ code: 0, stderr: expect.stringContaining("Setup 2/2 (diff)") });
  expect(stdout).toMatch(/Leftovers in added lines:\nchanges\.diff\n\d+\t\+console\.log\("here", total\);/);
  expect(stdout).toMatch(
    /Changed files:\nchanges\.diff\n\d+\t\+\+\+ b\/src\/cart\.js\nTests among them:\nNo lines match\./,
  );
  expect(stderr).toContain("lead → leftovers, tests: @leftovers @tests Please review");
  expect(await readDocument("code-review:pr-1", "changes.diff")).toContain("-export const total = 1;");
  expect((await readDocument("code-review:pr-1", "review.md")).trim()).toBe(stdout.trim());
});

test("research collects the quotes of three readers", async () => {
  const args = ["run", "research/research.yaml", "--tag", "salt", "--var", "term=salt"];
  const { code, stdout } = await thinkery(args);
  expect(code).toBe(0);
  expect(stdout).toContain("# What our sources say about salt");
  for (const quote of [
    "sources/tides.md says:\nsource.md\n4\tAt the mouth of a river, salt water",
    "sources/rivers.md says:\nsource.md\n3\tOn its way it dissolves salt",
    "sources/springs.md says:\nsource.md\n4\tWhere it has passed through salt",
  ])
    expect(stdout).toContain(quote);
  expect(stdout).not.toContain("The moon");
});

test("the build team mends its program until its tests pass", async () => {
  const { code, stdout, stderr } = await thinkery(["run", "build-team/build.yaml", "--tag", "one"]);
  expect(code).toBe(0);
  expect(stderr).toContain("tester → coder in #builds: @coder FAIL Hello World: expected hello-world, got Hello-World");
  expect(stderr).toContain("tester → architect in #builds: @architect All tests pass.");
  expect(stdout).toBe("slug.sh is done and tested:\n\necho \"$1\" | tr 'A-Z' 'a-z' | tr -s ' ' '-'\n");
  const { tasks } = await client.call("listTeamTasks", { params: { agency: "build-team:one" } });
  expect(tasks.map(({ title, status, claimedBy }) => [title, status, claimedBy])).toEqual([
    ["Write slug.sh", "complete", "coder"],
    ["Test slug.sh", "complete", "tester"],
  ]);
});

test("the nightly report is served on its schedule until Ctrl+C", async () => {
  const served = spawnCli(["serve", "nightly-report/nightly.yaml", "--tag", "main"], home, { cwd: examples });
  await waitUntil("the first report", () => served.out().includes("Open tasks: 0"));
  const agency = "nightly-report:main";
  expect(await thinkery(["channel", "send", `#general@${agency}`, "Version 2 is live."])).toMatchObject({ code: 0 });

  const reporter = client.agent(`reporter@${agency}`);
  const schedules = await reporter.schedules().list();
  expect(schedules).toMatchObject([{ when: "0 2 * * *", input: "Write the report." }]);
  await reporter.schedules().run(schedules[0]?.id ?? "");
  await waitUntil("the second report", () => served.out().includes("- owner: Version 2 is live."));

  served.child.kill("SIGINT");
  expect({ code: await waitForExit(served.child), err: served.err() }).toEqual({
    code: 0,
    err: expect.stringContaining(`Stopped. Resume it with \`thinkery workflow start @${agency}\``),
  });
  expect((await client.workflowRun(agency).describe()).status).toBe("stopped");
  expect((await readDocument(agency, "reports.md")).match(/^## Report of /gm)).toHaveLength(2);
});
