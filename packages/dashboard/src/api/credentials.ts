import type { Token } from "@thinkery/sdk";
import { pollWhileVisible } from "./follow.ts";
import { call } from "./host.ts";
import { createSource, type Source } from "./source.ts";

const pollIntervalMs = 10_000;

/** Creates a source of the user's logins and tokens, the newest first. */
export function createCredentialsSource(): Source<Token[]> {
  const load = async () => (await call("listTokens", { query: {} })).tokens.toReversed();
  return createSource(load, pollWhileVisible(pollIntervalMs));
}

export async function revokeCredential(id: string): Promise<void> {
  await call("revokeToken", { params: { id } });
}
