import type { Scope } from "@thinkery/sdk";
import { withRetry } from "@thinkery/sdk/client";
import type { Connection } from "./connect.ts";

interface LinkOptions {
  /** Default: all scopes of the user. */
  scopes?: Scope[];
  signal?: AbortSignal;
}

/** Creates a single-use login link. The code is in the fragment, which browsers neither send nor log. */
export async function createLoginLink(
  { client, url }: Pick<Connection, "client" | "url">,
  { scopes, signal }: LinkOptions = {},
): Promise<string> {
  const { code } = await withRetry(
    (signal) => client.call("createLoginCode", { body: scopes ? { scopes } : {}, signal }),
    signal ? { signal } : {},
  );
  return `${url}/#code=${encodeURIComponent(code)}`;
}
