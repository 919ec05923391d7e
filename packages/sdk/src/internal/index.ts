/** What Thinkery's own packages share. Not part of the public API: it may change in any release. */
export * from "./bindings.ts";
export * from "./command.ts";
export * from "./default-limits.ts";
export * from "./event-position.ts";
export * from "./file-transfer.ts";
export * from "./host-status.ts";
export * from "./nearest.ts";
export * from "./pattern/gitignore.ts";
export * from "./pattern/glob.ts";
export * from "./pattern/wildcard.ts";
export * from "./page-secret.ts";
export * from "./readable-output.ts";
export * from "./round-usd.ts";
export * from "./script-file.ts";
export * from "./sync-plan.ts";
export * from "./working-copy.ts";
export * from "./zip.ts";
