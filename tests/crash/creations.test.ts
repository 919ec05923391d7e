import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { isThinkeryError } from "@thinkery/sdk";
import { createClient } from "@thinkery/sdk/client";
import { afterAll, expect, test } from "vitest";
import { createHomePath, type HostProcess, startHostProcess, removeHome } from "../kit/host-process.ts";
import { findMain, findHomeProcesses } from "../kit/processes.ts";
import { createRandom } from "../kit/random.ts";
import { getRepeatCount } from "../kit/sample.ts";
import { waitUntil } from "../kit/wait-until.ts";

const kills = getRepeatCount("kills", { sample: 12, full: 100 });
const writers = 4;

let host: HostProcess;
let home: string | undefined;

afterAll(async () => {
  await host?.stop();
  if (home) await removeHome(home);
});

test(
  `no acknowledged creation is lost or duplicated over ${kills} kills of main and the daemon`,
  async () => {
    const random = createRandom("creations");
    home = await createHomePath();
    // By default the host gives up on a main that keeps failing.
    await mkdir(home, { mode: 0o700 });
    await writeFile(join(home, "config.jsonc"), '{ "maxFailuresPerMinute": 100000, "sandboxSlots": 1 }');
    host = await startHostProcess({ home });
    const port = host.port;

    const requested = new Set<string>();
    const acknowledged = new Set<string>();
    let isOver = false;

    async function write(writer: number): Promise<void> {
      for (let number = 0; !isOver; number++) {
        const name = `w${writer}-${number}`;
        requested.add(name);
        // Requests the same name until there is a response, as a careful client does.
        while (!isOver && !(await create(name))) await sleep(5);
      }
    }

    async function create(name: string): Promise<boolean> {
      const client = createClient({ url: host.url, token: host.token });
      try {
        const agent = await client.call("createAgent", {
          params: { agency: "global" },
          body: { name },
          signal: AbortSignal.timeout(5_000),
        });
        expect(agent.name).toBe(name);
      } catch (error) {
        // A conflict can only mean that an earlier attempt was stored before its response was cut off.
        if (!(isThinkeryError(error) && error.code === "conflict")) return false;
      }
      acknowledged.add(name);
      return true;
    }

    const writing = Promise.all(Array.from({ length: writers }, (_, writer) => write(writer)));
    // Every tenth kill hits the daemon.
    const isDaemonNext = random.deck([true, ...Array.from({ length: 9 }, () => false)]);
    let daemonKills = 0;
    let killed = 0;
    for (let kill = 0; kill < kills; kill++) {
      const before = acknowledged.size;
      await waitUntil("the next acknowledgement", () => acknowledged.size > before);
      await sleep(random.below(120));
      if (isDaemonNext()) {
        daemonKills++;
        await killDaemon(port);
      } else {
        const main = await waitUntil("main to run", () => findMain(host.home, killed));
        killed = main.pid;
        process.kill(main.pid, "SIGKILL");
      }
    }
    isOver = true;
    await writing;

    const stored = await waitUntil("the list", () => listAgents(host));
    expect(new Set(stored).size).toBe(stored.length);
    expect([...acknowledged].filter((name) => !stored.includes(name))).toEqual([]);
    expect(stored.filter((name) => !requested.has(name))).toEqual([]);
    console.log(
      `${acknowledged.size} creations acknowledged over ${kills} kills, ${daemonKills} of them of the daemon`,
    );

    await host.stop();
    expect(findHomeProcesses(host.home)).toEqual([]);
  },
  Math.max(120_000, kills * 3_000),
);

async function killDaemon(port: number): Promise<void> {
  const orphans = findHomeProcesses(host.home).map(({ pid }) => pid);
  host.daemon.kill("SIGKILL");
  host = await startHostProcess({ home: host.home, args: ["--port", String(port)] });
  const remaining = findHomeProcesses(host.home).filter(({ pid }) => orphans.includes(pid));
  expect(remaining).toEqual([]);
}

async function listAgents({ client }: HostProcess): Promise<string[]> {
  const names: string[] = [];
  let after: string | undefined;
  do {
    const page = await client.call("listAgents", {
      params: { agency: "global" },
      query: { limit: 500, ...(after ? { after } : {}) },
    });
    names.push(...page.agents.map((agent) => agent.name));
    after = page.next;
  } while (after);
  return names;
}

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
