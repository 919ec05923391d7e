import { withRetry } from "@thinkery/sdk/client";
import type { Connection } from "./connect.ts";

/** Creates a single-use login link. The code is in the fragment, which browsers neither send nor log. */
export async function createLoginLink(
  { client, url }: Pick<Connection, "client" | "url">,
  signal?: AbortSignal,
): Promise<string> {
  const { code } = await withRetry((signal) => client.call("createLoginCode", { signal }), signal ? { signal } : {});
  return `${url}/#code=${encodeURIComponent(code)}`;
}
