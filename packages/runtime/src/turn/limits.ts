import { type TurnLimits, turnLimitsSchema } from "@thinkery/sdk/internal";

/** What bounds a turn: the host's configuration, or what is usual where no daemon made one; a blueprint may set the steps. */
export function limitsFrom(configured: TurnLimits | undefined, steps?: number): TurnLimits {
  const limits = configured ?? turnLimitsSchema.parse({});
  return steps ? { ...limits, steps } : limits;
}
