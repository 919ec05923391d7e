import type { Cli } from "./cli.ts";
import type { Connection } from "./connect.ts";
import { loginLink } from "./link.ts";
import { place } from "./place.ts";

interface Greeting {
  /** Started by this command, or found running. */
  started: boolean;
  pid: number;
  version: string;
  homePath: string;
  howToStop: string;
  /** The host is going away again and the link is not waited for. */
  signal?: AbortSignal;
}

/** Where the host is and how to get in: the few lines after a start. */
export async function greet(cli: Cli, connection: Pick<Connection, "client" | "url">, greeting: Greeting): Promise<void> {
  const { started, pid, version, homePath, howToStop, signal } = greeting;
  const { url } = connection;
  const login = await loginLink(connection, signal);
  cli.output.reply({ url, login, pid, version, started, home: homePath }, () =>
    [
      `Thinkery is ${started ? "" : "already "}running at ${cli.output.bold(url)}`,
      cli.output.facts([
        ["  Log in", `${login} (works once)`],
        ["  Data", place(homePath)],
        ["  Stop", howToStop],
      ]),
    ].join("\n"),
  );
}
