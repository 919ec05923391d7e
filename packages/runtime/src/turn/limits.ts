import { type TurnLimits, turnLimitsSchema } from "@thinkery/sdk/internal";

/** What bounds a turn: the host's configuration, or what is usual where no daemon made one; a blueprint may set the steps. */
export function resolveLimits(configured: TurnLimits | undefined, steps?: number): TurnLimits {
  const limits = configured ?? turnLimitsSchema.parse({});
  return steps ? { ...limits, maxSteps: steps } : limits;
}

/** A machine that slept is no stalled turn, and takes none of its time: a gap counts for a few heartbeats at most. */
export function getMaxGapMs({ heartbeatSeconds }: TurnLimits): number {
  return heartbeatSeconds * 3000;
}
