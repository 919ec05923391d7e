import type { AgentCapability, PackageVersion } from "@thinkery/sdk";

export interface CapabilityChange {
  /** The version it is compared with, the one before it; undefined for the first. */
  since: number | undefined;
  added: AgentCapability[];
  removed: AgentCapability[];
}

/** Returns what a version may use that the one before it may not, and the reverse. `versions` are newest first. */
export function compareVersions(versions: readonly PackageVersion[], index: number): CapabilityChange {
  const before = versions[index + 1];
  const capabilities = versions[index]?.capabilities ?? [];
  if (!before) return { since: undefined, added: [], removed: [] };
  return {
    since: before.version,
    added: capabilities.filter((name) => !before.capabilities.includes(name)),
    removed: before.capabilities.filter((name) => !capabilities.includes(name)),
  };
}
