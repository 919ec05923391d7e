import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { mkdir, rename, rm, writeFile } from "node:fs/promises";
import { setPriority } from "node:os";
import { join } from "node:path";
import type { SandboxLimits } from "@thinkery/sdk/internal";
import type { Home } from "../home/home.ts";
import { findInnerProcess } from "./inner-process.ts";
import { isolateCommand, toInnerExit, type SandboxIsolation } from "./isolation.ts";
import { pingSandbox } from "./ping.ts";
import { type Child, startChild } from "./process.ts";
import type { ChildSpec } from "./supervise.ts";
import { type Module, formatSandboxConfig } from "./workerd-config.ts";
import { toServeCommand } from "./workerd.ts";

interface SandboxOptions {
  home: Home;
  index: number;
  modules: Module[];
  limits: Pick<SandboxLimits, "memoryMb">;
  /** Asked before every start; the answer is always the same. */
  getIsolation(): Promise<SandboxIsolation>;
  lockFd: number | undefined;
  /** More than any slot should ever use; a process that got away from its watchdog ends there. */
  cpuSeconds?: number;
}

/** What workerd takes for itself, beside the heap of the code: with half of it, it does not even start. */
const workerdBytes = 896 * 1024 ** 2;

/** A slot for untrusted code. */
export function createSandboxChild({
  home,
  index,
  modules,
  limits,
  getIsolation,
  lockFd,
  cpuSeconds = 3600,
}: SandboxOptions) {
  const name = `sandbox-${index}`;
  const socket = join(home.run, `${name}.sock`);
  const configFile = join(home.run, `${name}.capnp`);
  const folder = join(home.run, name);
  // Made in a folder of the process's own, and moved where main finds it: what the process does in its folder later is of
  // no consequence for main.
  const ownSocket = join(folder, "s");
  const dataBytes = workerdBytes + limits.memoryMb * 1024 ** 2;
  const processLimits = { dataBytes, cpuSeconds, readable: [configFile, ...modules.map(({ path }) => path)], folder };
  let isolation: SandboxIsolation = { missing: [] };

  return {
    name,
    socket,
    isDisposable: true,
    async prepare() {
      isolation = await getIsolation();
      await rm(folder, { recursive: true, force: true });
      await mkdir(folder, { mode: 0o700 });
      await writeFile(configFile, formatSandboxConfig({ socket: ownSocket, modules, memoryMb: limits.memoryMb }), {
        mode: 0o600,
      });
    },
    start(onLine): Child {
      const [command, ...args] = isolateCommand(
        isolation,
        processLimits,
        toServeCommand(configFile, { experimental: true }),
      );
      const child = startChild({ command, args, env: {}, lockFd, onLine });
      const listening = child.listening.then(async () => {
        yieldToMain(child.pid);
        await rename(ownSocket, socket);
      });
      const reachable = listening.catch(() => {
        // Nobody could ever reach it.
        child.kill("SIGKILL");
        return new Promise<void>(() => {});
      });
      return { ...child, listening: reachable, exited: child.exited.then((exit) => toInnerExit(isolation, exit)) };
    },
    ping: (signal) => pingSandbox(socket, signal),
  } satisfies Partial<ChildSpec> & { socket: string };
}

// Where the processor is busy main comes first, and where memory is short a sandbox goes first. Elsewhere than on Linux,
// and where we may not, it is done without.
function yieldToMain(child: number | undefined): void {
  const pid = child === undefined ? undefined : findInnerProcess("workerd", child)?.pid;
  if (pid === undefined) return;
  try {
    for (const thread of readdirSync(`/proc/${pid}/task`)) setPriority(Number(thread), 5);
    writeFileSync(`/proc/${pid}/oom_score_adj`, "1000");
    // Where the kernel shares the machine between groups of processes first, a priority counts within its group only.
    if (existsSync(`/proc/${pid}/autogroup`)) writeFileSync(`/proc/${pid}/autogroup`, "19");
  } catch {}
}
