import { type TurnLimits, turnLimitsSchema } from "@thinkery/sdk/internal";

/**
 * Returns the configured turn limits, or the defaults if no daemon configured any. A blueprint may override the steps.
 */
export function resolveLimits(configured: TurnLimits | undefined, steps?: number): TurnLimits {
  const limits = configured ?? turnLimitsSchema.parse({});
  return steps ? { ...limits, maxSteps: steps } : limits;
}

/** A machine that was asleep does not stall a turn or use up its time: a gap counts as a few heartbeats at most. */
export function getMaxGapMs({ heartbeatSeconds }: TurnLimits): number {
  return heartbeatSeconds * 3000;
}
