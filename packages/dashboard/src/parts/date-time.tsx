import { useEffect, useState } from "react";
import { formatAgo, formatDuration } from "./duration.ts";

const fullFormat = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
const timeFormat = new Intl.DateTimeFormat(undefined, { timeStyle: "medium" });

export function formatClock(at: number): string {
  return timeFormat.format(at);
}

/** A moment; `short` says how long ago it was. */
export function DateTime({ at, short = false }: { at: string; short?: boolean }) {
  const moment = new Date(at);
  const now = useNow(60_000);
  if (Number.isNaN(moment.getTime())) return <span>{at}</span>;
  const exact = fullFormat.format(moment);
  return (
    <time dateTime={at} title={exact}>
      {short ? formatAgo(now - moment.getTime()) : exact}
    </time>
  );
}

/** How long the host has been up, counted on from when it said so. */
export function Uptime({ seconds, at }: { seconds: number; at: number }) {
  const now = useNow(1000);
  return <>{formatDuration(seconds + Math.max(0, now - at) / 1000)}</>;
}

export function shortenVersion(version: string): string {
  return `v${version.split("+")[0]}`;
}

function useNow(every: number): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), every);
    return () => clearInterval(timer);
  }, [every]);
  return now;
}
