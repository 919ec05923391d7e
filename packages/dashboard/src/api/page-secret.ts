import { pageProtocol, pageSecretHeader, pageSecretProtocolPrefix } from "@thinkery/sdk/internal";
import { recall, remember } from "../frame/storage.ts";

// Browsers send the login cookie to every server on this machine, whatever its port, but storage belongs to one origin.
const key = "page-secret";

/** Used if storage is blocked; the login then ends with the page. */
let unstored: string | undefined;

/** Stores the secret that the host issued for this login, or forgets it. */
export function setPageSecret(secret: string | undefined): void {
  unstored = secret;
  remember(key, secret);
}

export function getPageHeaders(): Record<string, string> {
  const secret = recall(key) ?? unstored;
  return secret === undefined ? {} : { [pageSecretHeader]: secret };
}

/** WebSockets cannot send headers, so the secret is offered as a subprotocol. */
export function getPageProtocols(): string[] {
  const secret = recall(key) ?? unstored;
  return secret === undefined ? [] : [pageProtocol, pageSecretProtocolPrefix + secret];
}
