import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { chmod, writeFile } from "node:fs/promises";
import { setPriority } from "node:os";
import { join } from "node:path";
import { fail } from "@thinkery/sdk";
import type { SandboxLimits } from "@thinkery/sdk/internal";
import type { Home } from "../home/home.ts";
import { findInnerProcess } from "./inner-process.ts";
import { isolateCommand, isRoot, toInnerExit, type SandboxIsolation } from "./isolation.ts";
import { pingSandbox } from "./ping.ts";
import { type Child, startChild } from "./process.ts";
import { createNobodySlotFiles, createOwnSlotFiles } from "./slot-files.ts";
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
  const dataBytes = workerdBytes + limits.memoryMb * 1024 ** 2;
  let isolation: SandboxIsolation = { missing: [] };
  let files = createOwnSlotFiles({ home, name, modules, socket });

  return {
    name,
    socket,
    isDisposable: true,
    async prepare() {
      isolation = await getIsolation();
      if (isRoot() && !isolation.bubblewrap && !isolation.setpriv)
        throw fail(
          "unavailable",
          "Refusing to run agents' code as root. Install bubblewrap or setpriv, or run the host as another user.",
        );
      if (isolation.setpriv) files = createNobodySlotFiles({ home, name, modules, socket });
      await files.prepare();
      const { configFile, ownSocket } = files;
      await writeFile(
        configFile,
        formatSandboxConfig({ socket: ownSocket, modules: files.modules, memoryMb: limits.memoryMb }),
      );
      await chmod(configFile, isolation.setpriv ? 0o644 : 0o600);
    },
    start(onLine): Child {
      const { configFile, folder, programLink } = files;
      const isolated = isolateCommand(
        isolation,
        {
          dataBytes,
          cpuSeconds,
          readable: [configFile, ...files.modules.map(({ path }) => path)],
          folder,
          ...(programLink ? { programLink } : {}),
        },
        toServeCommand(configFile, { experimental: true }),
      );
      // workerd opens its working directory, and another user may not be able to enter ours.
      const child = startChild({ ...isolated, cwd: "/", env: {}, lockFd, onLine });
      const listening = child.listening.then(async () => {
        yieldToMain(child.pid);
        await files.publishSocket();
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
