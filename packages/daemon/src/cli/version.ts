import { readFileSync } from "node:fs";

/** The version in the `build.json` beside the bundle. Without one there is nothing to compare with a host's. */
export function readBuildVersion(entry: URL): string | undefined {
  try {
    const { version } = JSON.parse(readFileSync(new URL("./build.json", entry), "utf8")) as { version?: unknown };
    return typeof version === "string" ? version : undefined;
  } catch {
    return undefined;
  }
}
