/** What runs agents needs of their side of the wire. */
export * from "./base64.ts";
export * from "./fetch.ts";
export * from "./file-system.ts";
export * from "./wire.ts";
export { maxStateBytes } from "./state.ts";
