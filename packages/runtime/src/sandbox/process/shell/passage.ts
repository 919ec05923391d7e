import type { ShellHost } from "../../shell.ts";

/** The way from a shell to main: it leads nowhere once the command is over. */
export function shellPassage(host: ShellHost): { inside: ShellHost; shut(): void } {
  let open: ShellHost | undefined = host;
  const held = () => {
    if (!open) throw new Error("The command that this was given to is over.");
    return open;
  };
  return {
    inside: { read: async (path) => held().read(path), fetch: async (input) => held().fetch(input) },
    shut() {
      open = undefined;
    },
  };
}
