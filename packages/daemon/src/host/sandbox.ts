import { join } from "node:path";
import type { Home } from "../home/home.ts";
import { pingSandbox } from "./ping.ts";
import type { Charge } from "./supervise.ts";
import { prepareWorkerd, startWorkerd } from "./workerd.ts";
import { sandboxConfig, type Module } from "./workerd-config.ts";

/** A slot for untrusted code. */
export function sandbox({ home, index, modules, lockFd }: { home: Home; index: number; modules: Module[]; lockFd: number }) {
  const name = `sandbox-${index}`;
  const socket = join(home.run, `${name}.sock`);
  const configFile = join(home.run, `${name}.capnp`);
  return {
    name,
    socket,
    prepare: () => prepareWorkerd(configFile, sandboxConfig({ socket, modules }), socket),
    start: (onLine) => startWorkerd({ configFile, experimental: true, lockFd, onLine }),
    ping: (signal) => pingSandbox(socket, signal),
  } satisfies Partial<Charge> & { socket: string };
}
