/**
 * How our page proves to the host that a request comes from its own origin: with a header, or a WebSocket subprotocol.
 */
export const pageSecretHeader = "x-thinkery-page";
/** The subprotocol that the host accepts; the one with the secret is only offered. */
export const pageProtocol = "thinkery";
export const pageSecretProtocolPrefix = "thinkery.page.";
