import type { Cli } from "./cli.ts";
import type { Connection } from "./connect.ts";
import { formatPath } from "./format-path.ts";
import { createLoginLink } from "./link.ts";

interface Greeting {
  /** Started by this command, or found running. */
  isStarted: boolean;
  pid: number;
  version: string;
  homePath: string;
  stopHint: string;
  /** The host is going away again and the link is not waited for. */
  signal?: AbortSignal;
}

/** Where the host is and how to get in: the few lines after a start. */
export async function greet(
  cli: Cli,
  connection: Pick<Connection, "client" | "url">,
  greeting: Greeting,
): Promise<void> {
  const { isStarted, pid, version, homePath, stopHint, signal } = greeting;
  const { url } = connection;
  const login = await createLoginLink(connection, signal);
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
