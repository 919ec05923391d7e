/** What has to be known about a Claude before it is asked. */

interface Version {
  family: string;
  major: number;
  minor: number;
}

/** `claude-opus-4-1-20250805`: a family, a version in one or two numbers, and perhaps a date. */
function parseVersion(model: string): Version | undefined {
  const [, family = "", major, minor = "0"] = model.match(/claude-([a-z]+)-(\d)(?:[-.](\d)(?!\d))?/) ?? [];
  return major === undefined ? undefined : { family, major: Number(major), minor: Number(minor) };
}

/** The most a model may write in one answer: it has to be named, and one that is too large is refused. */
export function getMaxOutputTokens(model: string): number {
  const version = parseVersion(model);
  if (version) return version.family === "opus" && version.major === 4 && version.minor < 5 ? 32_000 : 64_000;
  if (/claude-3-[57]/.test(model)) return 8192;
  return 4096;
}

/** From Opus 4.7 and the fifth generation on, no temperature is taken. */
export function supportsTemperature(model: string): boolean {
  const version = parseVersion(model);
  if (!version) return true;
  const { family, major, minor } = version;
  return major < 4 || (major === 4 && !(family === "opus" && minor >= 7));
}
