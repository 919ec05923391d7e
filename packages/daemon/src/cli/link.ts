import type { Connection } from "./connect.ts";
import { persist } from "./persist.ts";

/** A login link that works once. The code is in the fragment, which browsers do not send or log. */
export async function createLoginLink(
  { client, url }: Pick<Connection, "client" | "url">,
  signal?: AbortSignal,
): Promise<string> {
  const { code } = await persist((signal) => client.call("createLoginCode", { signal }), signal ? { signal } : {});
  return `${url}/#code=${encodeURIComponent(code)}`;
}
