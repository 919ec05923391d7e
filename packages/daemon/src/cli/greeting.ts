import type { Cli } from "./cli.ts";
import type { Connection } from "./connect.ts";
import { formatPath } from "./format-path.ts";
import { createLoginLink } from "./link.ts";

interface Greeting {
  /** Whether this command started the host, rather than found it running. */
  isStarted: boolean;
  pid: number;
  version: string;
  homePath: string;
  stopHint: string;
  /** Aborts waiting for the login link when the host is already stopping. */
  signal?: AbortSignal;
}

/** Prints the address of the host and a login link. */
export async function greet(
  cli: Cli,
  connection: Pick<Connection, "client" | "url">,
  greeting: Greeting,
): Promise<void> {
  const { isStarted, pid, version, homePath, stopHint, signal } = greeting;
  const { url } = connection;
  const login = await createLoginLink(connection, signal ? { signal } : {});
  cli.output.reply({ url, login, pid, version, started: isStarted, home: homePath }, () =>
    [
      `Thinkery is ${isStarted ? "" : "already "}running at ${cli.output.bold(url)}`,
      cli.output.formatFields([
        ["  Log in", `${login} (works once)`],
        ["  Data", formatPath(homePath)],
        ["  Stop", stopHint],
      ]),
    ].join("\n"),
  );
}
