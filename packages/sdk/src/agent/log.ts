import type { Log } from "./definition.ts";
import type { HostClient } from "./host-client.ts";

const maxChars = 20_000;

export function createLog(host: HostClient): Log {
  const write =
    (level: "info" | "warn" | "error") =>
    (...args: unknown[]): void =>
      host.notify("log", { level, text: args.map(format).join(" ").slice(0, maxChars) });
  return { info: write("info"), warn: write("warn"), error: write("error") };
}

function format(value: unknown): string {
  if (typeof value === "string") return value;
  if (value instanceof Error) return value.stack ?? `${value.name}: ${value.message}`;
  try {
    return JSON.stringify(value) ?? String(value);
  } catch {
    return String(value);
  }
}
