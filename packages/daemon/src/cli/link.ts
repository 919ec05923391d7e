import type { Connection } from "./connect.ts";

/** A login link that works once. The code is in the fragment, which browsers do not send or log. */
export async function loginLink({ client, url }: Connection): Promise<string> {
  const { code } = await client.call("createLoginCode");
  return `${url}/#code=${encodeURIComponent(code)}`;
}
