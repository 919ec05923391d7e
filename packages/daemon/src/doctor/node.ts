import type { Finding } from "./finding.ts";

const oldest = [20, 19] as const;

export function checkNode(_patient?: unknown, version: string = process.versions.node): Finding {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const fits = major > oldest[0] || (major === oldest[0] && minor >= oldest[1]);
  if (fits) return { name: "Node", state: "ok", message: version };
  return {
    name: "Node",
    state: "fail",
    message: `${version} is too old`,
    fix: `Install Node ${oldest.join(".")} or newer from https://nodejs.org.`,
  };
}
