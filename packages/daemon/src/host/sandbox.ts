import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { chmod, lstat, mkdir, rename, writeFile } from "node:fs/promises";
import { setPriority } from "node:os";
import { join } from "node:path";
import type { SandboxLimits } from "@thinkery/sdk/internal";
import { removeFolder } from "../folder/remove.ts";
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
  /** Called before every start; always returns the same result. */
  getIsolation(): Promise<SandboxIsolation>;
  lockFd: number | undefined;
  /** More than a slot should ever use; stops a process that its supervisor failed to end. */
  cpuSeconds?: number;
}

/** What workerd needs in addition to the heap of the code. With half of it, it does not start. */
const workerdBytes = 896 * 1024 ** 2;

/** Describes the workerd process of a slot, which runs untrusted code. */
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
  // Created in the process's own folder and then moved to where main expects it, so that nothing the process does in
  // its folder later affects main.
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
      await removeFolder(folder);
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
        // From here on, nothing but this process can replace it.
        if (!(await lstat(socket)).isSocket()) throw new Error("not a socket");
        await chmod(socket, 0o600);
      });
      const reachable = listening.catch(() => {
        // Without its socket in place, nobody could reach it.
        child.kill("SIGKILL");
        return new Promise<void>(() => {});
      });
      return { ...child, listening: reachable, exited: child.exited.then((exit) => toInnerExit(isolation, exit)) };
    },
    ping: (signal) => pingSandbox(socket, signal),
  } satisfies Partial<ChildSpec> & { socket: string };
}

// Gives main priority on a busy processor, and has the kernel kill a sandbox first if memory runs out. Does nothing on
// systems other than Linux, or if not permitted.
function yieldToMain(child: number | undefined): void {
  const pid = child === undefined ? undefined : findInnerProcess("workerd", child)?.pid;
  if (pid === undefined) return;
  try {
    for (const thread of readdirSync(`/proc/${pid}/task`)) setPriority(Number(thread), 5);
    writeFileSync(`/proc/${pid}/oom_score_adj`, "1000");
    // With autogroup scheduling, a process's own priority counts only within its group.
    if (existsSync(`/proc/${pid}/autogroup`)) writeFileSync(`/proc/${pid}/autogroup`, "19");
  } catch {}
}
