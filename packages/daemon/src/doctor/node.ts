import type { Finding } from "./finding.ts";

const minVersion = [20, 19] as const;

export function checkNode(_context?: unknown, version: string = process.versions.node): Finding {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const isSupported = major > minVersion[0] || (major === minVersion[0] && minor >= minVersion[1]);
  if (isSupported) return { name: "Node", state: "ok", message: version };
  return {
    name: "Node",
    state: "fail",
    message: `${version} is too old`,
    fix: `Install Node ${minVersion.join(".")} or newer from https://nodejs.org.`,
  };
}
