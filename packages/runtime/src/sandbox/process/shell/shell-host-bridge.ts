import type { ShellHost } from "../../shell.ts";

/** Forwards a shell's calls to main until it is closed. */
export function createShellHostBridge(host: ShellHost): { bridge: ShellHost; close(): void } {
  let open: ShellHost | undefined = host;
  const requireHost = () => {
    if (!open) throw new Error("This command is over.");
    return open;
  };
  return {
    bridge: { read: async (path) => requireHost().read(path), fetch: async (input) => requireHost().fetch(input) },
    close() {
      open = undefined;
    },
  };
}
