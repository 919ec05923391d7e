import { useEffect, useState } from "react";
import { ago, duration } from "./duration.ts";

const full = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
const time = new Intl.DateTimeFormat(undefined, { timeStyle: "medium" });

export function clock(at: number): string {
  return time.format(at);
}

/** A moment; `short` says how long ago it was. */
export function When({ at, short = false }: { at: string; short?: boolean }) {
  const moment = new Date(at);
  const now = useNow(60_000);
  if (Number.isNaN(moment.getTime())) return <span>{at}</span>;
  const exact = full.format(moment);
  return (
    <time dateTime={at} title={exact}>
      {short ? ago(now - moment.getTime()) : exact}
    </time>
  );
}

/** How long the host has been up, counted on from when it said so. */
export function UpFor({ seconds, at }: { seconds: number; at: number }) {
  const now = useNow(1000);
  return <>{duration(seconds + Math.max(0, now - at) / 1000)}</>;
}

export function shortVersion(version: string): string {
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
