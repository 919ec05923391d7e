interface Version {
  family: string;
  major: number;
  minor: number;
}

/** Parses names such as `claude-opus-4-1-20250805`: family, one or two version numbers, optional date. */
function parseVersion(model: string): Version | undefined {
  const [, family = "", major, minor = "0"] = model.match(/claude-([a-z]+)-(\d)(?:[-.](\d)(?!\d))?/) ?? [];
  return major === undefined ? undefined : { family, major: Number(major), minor: Number(minor) };
}

/** The output limit of a model. The API requires it, and rejects one that is too large. */
export function getMaxOutputTokens(model: string): number {
  const version = parseVersion(model);
  if (version) return version.family === "opus" && version.major === 4 && version.minor < 5 ? 32_000 : 64_000;
  if (/claude-3-[57]/.test(model)) return 8192;
  return 4096;
}

/** Opus 4.7 and later, and generation 5 and later, accept no temperature. */
export function supportsTemperature(model: string): boolean {
  const version = parseVersion(model);
  if (!version) return true;
  const { family, major, minor } = version;
  return major < 4 || (major === 4 && !(family === "opus" && minor >= 7));
}
