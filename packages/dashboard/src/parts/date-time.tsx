import { useEffect, useState } from "react";
import { formatAgo, formatDuration } from "./duration.ts";

const fullFormat = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
const timeFormat = new Intl.DateTimeFormat(undefined, { timeStyle: "medium" });

export function formatClock(at: number): string {
  return timeFormat.format(at);
}

/** A date and time, or with `short` the time elapsed since then. */
export function DateTime({ at, short = false }: { at: string; short?: boolean }) {
  const date = new Date(at);
  const now = useNow(60_000);
  if (Number.isNaN(date.getTime())) return <span>{at}</span>;
  const exact = fullFormat.format(date);
  return (
    <time dateTime={at} title={exact}>
      {short ? formatAgo(now - date.getTime()) : exact}
    </time>
  );
}

/** Uptime of the host: `seconds` at time `at`, counting up from there. */
export function Uptime({ seconds, at }: { seconds: number; at: number }) {
  const now = useNow(1000);
  return <>{formatDuration(seconds + Math.max(0, now - at) / 1000)}</>;
}

export function shortenVersion(version: string): string {
  return `v${version.split("+")[0]}`;
}

/** The current time, updated at this interval. */
export function useNow(intervalMs: number): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), intervalMs);
    return () => clearInterval(timer);
  }, [intervalMs]);
  return now;
}
