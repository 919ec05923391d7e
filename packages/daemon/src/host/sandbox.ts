import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Home } from "../home/home.ts";
import { pingSandbox } from "./ping.ts";
import type { Charge } from "./supervise.ts";
import { startWorkerd } from "./workerd.ts";
import { sandboxConfig, type Module } from "./workerd-config.ts";

/** A slot for untrusted code. */
export function sandbox({ home, index, modules, lockFd }: { home: Home; index: number; modules: Module[]; lockFd: number }) {
  const name = `sandbox-${index}`;
  const socket = join(home.run, `${name}.sock`);
  const configFile = join(home.run, `${name}.capnp`);
  return {
    name,
    socket,
    async prepare() {
      // workerd does not bind over a socket file that its predecessor left.
      await rm(socket, { force: true });
      await writeFile(configFile, sandboxConfig({ socket, modules }), { mode: 0o600 });
    },
    start: (onLine) => startWorkerd({ configFile, experimental: true, lockFd, onLine }),
    ping: (signal) => pingSandbox(socket, signal),
  } satisfies Partial<Charge> & { socket: string };
}
