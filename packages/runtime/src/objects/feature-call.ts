import type { Think } from "./think.ts";

/** The features that can be called on a sub-agent, like on any agent. */
const features = ["conversation", "subagents", "taskGraph", "storage", "waits", "code"] as const;

export type CallableFeature = (typeof features)[number];

/** A call to a feature, as it is passed on from an agent to a sub-agent. */
export interface FeatureCall {
  feature: CallableFeature;
  method: string;
  args: unknown[];
}

export function callFeature(agent: Pick<Think, CallableFeature>, { feature, method, args }: FeatureCall): unknown {
  const target = features.includes(feature) ? agent[feature] : undefined;
  if (!target || method === "constructor" || !Object.hasOwn(Object.getPrototypeOf(target) as object, method))
    throw new Error(`A sub-agent has no ${feature}.${method}.`);
  return (target as unknown as Record<string, (...args: unknown[]) => unknown>)[method]?.(...args);
}
