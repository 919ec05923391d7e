import { spawn } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { createHomePath, removeHome, runCli } from "../kit/host-process.ts";
import { waitForExit, findHomeProcesses } from "../kit/processes.ts";
import { waitUntil } from "../kit/wait-until.ts";

const folder = fileURLToPath(new URL("../../examples/", import.meta.url));

/** Those that run a host of their own; the agents in `examples/agents` have tests beside them. */
const products = readdirSync(folder).filter((name) => existsSync(`${folder}${name}/src/worker.ts`));

test.each(products)("examples/%s starts as its README says and responds without an API key", async (name) => {
  const home = await createHomePath();
  onTestFinished(() => removeHome(home));
  const cwd = folder + name;
  const env = {
    PATH: process.env.PATH ?? "",
    HOME: dirname(home),
    THINKERY_HOME: home,
    NO_COLOR: "1",
    npm_config_update_notifier: "false",
  };
  const started = spawn("npm", ["start", "--", "--port", "0"], { cwd, env, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [started.stdout, started.stderr]) stream.on("data", (chunk) => (output += chunk));
  onTestFinished(async () => {
    await runCli(["stop"], home);
    await waitForExit(started);
  });
  await waitUntil(
    "the host to start or exit",
    () => output.includes("Thinkery is running at") || started.exitCode !== null,
    { timeoutMs: 50_000 },
  );
  expect(output).toContain("Thinkery is running at");

  const run = (...args: string[]) => runCli(args, home, { cwd });
  expect(await run("new", "sam")).toMatchObject({ code: 0 });
  expect(await run("run", "sam", "Hello")).toMatchObject({ code: 0, stdout: expect.stringContaining("scripted") });
  expect((await run("status")).stdout).toContain(`${cwd}/src/worker.ts (own+`);
  expect(await run("stop")).toMatchObject({ code: 0 });
  expect(await waitForExit(started)).toBe(0);
  expect(findHomeProcesses(home)).toEqual([]);
});
