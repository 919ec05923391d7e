import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { deliver } from "../kit/deliver.ts";
import type { HostProcess } from "../kit/host-process.ts";
import { openScriptedHost } from "../kit/scripted-host.ts";

let host: HostProcess;

const run = async (commands: string) => (await promisify(execFile)("bash", ["-c", commands])).stdout;

beforeAll(async () => {
  host = await openScriptedHost(["alice"]);
});

afterAll(() => host?.stop());

test("a webhook is added, used with the commands that are shown, listed and removed", async () => {
  const added = await host.runCli(["hook", "add", "alice", "deploys"]);
  const url = `${host.url}/agency/global/agent/alice/hooks/deploys`;
  const [, secret = ""] = /^url +\S+\nsecret +(whsec_\S+)\n$/.exec(added.stdout) ?? [];
  expect([added.code, added.stdout]).toEqual([0, expect.stringContaining(url)]);
  expect(secret).not.toBe("");
  const [, commands = ""] = /To try it:\n+([^]+)$/.exec(added.stderr) ?? [];
  expect(commands).toContain(secret);
  if (await run("command -v openssl && command -v curl").catch(() => undefined)) {
    expect(JSON.parse(await run(commands))).toEqual({ status: "accepted", runId: expect.any(String) });
  } else expect((await deliver({ port: host.port, url: new URL(url).pathname, secret })).status).toBe(202);

  for (const args of [
    ["hook", "ls"],
    ["hook", "ls", "alice"],
    ["hook", "ls", "@global"],
  ]) {
    const { code, stdout } = await host.runCli(args);
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^alice +deploys +http.* +owner +\d{4}-/m)]);
    expect(stdout).not.toContain(secret);
  }
  const listed = await host.runCli(["hook", "ls", "--json"]);
  expect(JSON.parse(listed.stdout)).toMatchObject({ hooks: [{ agent: "alice", name: "deploys", url }] });

  expect((await host.runCli(["hook", "rm", "alice", "deploys", "--yes"])).stdout).toBe("Deleted deploys.\n");
  expect((await host.runCli(["hook", "ls"])).stdout).toMatch(/^No webhooks\./);
});

test("a webhook of an unknown agent, with a bad name, or twice is an error", async () => {
  const table: [string[], string][] = [
    [["hook", "add", "alcie", "n"], "Did you mean alice?"],
    [["hook", "add", "alice", "a/b"], "ASCII letters"],
    [["hook", "rm", "alice", "n", "--yes"], "no webhook “n”"],
    [["hook", "add", "alice", "twice"], ""],
    [["hook", "add", "alice", "twice"], "already exists"],
  ];
  for (const [args, message] of table) {
    const { code, stderr } = await host.runCli(args);
    expect([args, code === 0, stderr]).toEqual([args, message === "", expect.stringContaining(message)]);
  }
});
