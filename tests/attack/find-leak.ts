import type { HostProcess } from "../kit/host-process.ts";

/** Returns what a response leaks, if anything: a stack, a path of the machine, the token. */
export function findLeak(response: string, { token, home }: Pick<HostProcess, "token" | "home">): string | undefined {
  // The workspace's /work/ is not a path of the machine.
  const text = response.replaceAll("or one that starts with /work/", "");
  const leak = [
    /\n\s+at .+:\d+/,
    /\bat (?:async )?\w+ \(/,
    /\/(?:tmp|root|home|usr|work|var)\//,
    /node_modules/,
    /\.js:\d+/,
    /\.ts:\d+/,
  ].find((pattern) => pattern.test(text));
  if (leak) return String(leak);
  return text.includes(token) || text.includes(home) ? "token or home" : undefined;
}
