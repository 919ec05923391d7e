import type { ShellHost } from "../../shell.ts";

/** The way from a shell to main: it leads nowhere once the command is over. */
export function createShellHostBridge(host: ShellHost): { inside: ShellHost; shut(): void } {
  let open: ShellHost | undefined = host;
  const requireHost = () => {
    if (!open) throw new Error("The command that this was given to is over.");
    return open;
  };
  return {
    inside: { read: async (path) => requireHost().read(path), fetch: async (input) => requireHost().fetch(input) },
    shut() {
      open = undefined;
    },
  };
}
