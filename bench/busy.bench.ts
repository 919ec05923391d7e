import { startHost } from "@thinkery/sdk/test";
import { expensiveRequests, expensiveScripts, largeAgents } from "../tests/kit/expensive-requests.ts";
import { createBystander, sendWhileOthersWait } from "../tests/kit/send-while-others-wait.ts";
import type { Bench, Finding } from "./kit/bench.ts";

const goals = [
  { atOnce: 1, goalMs: 250 },
  { atOnce: 8, goalMs: 500 },
];

/** How long others wait while a client asks for as much work as it can. The goals are waits of a person. */
export const busy: Bench = {
  name: "busy",
  about: "the longest wait of another client during expensive requests, alone and eight at once",
  async run() {
    await using host = await startHost({ scripts: expensiveScripts });
    const createToken = async (scope: "chat" | "admin") =>
      (await host.client.call("createToken", { body: { name: `busy ${scope}`, scopes: ["read", scope] } })).token;
    const tokens = { chat: await createToken("chat"), admin: await createToken("admin") };
    for (const { create } of largeAgents) await create(host);
    const probes = await createBystander(host);
    const findings: Finding[] = [];
    for (const { atOnce, goalMs } of goals) {
      const waits = new Map<string, number[]>();
      for (const request of expensiveRequests) {
        const { waits: ofProbes } = await sendWhileOthersWait(host, tokens[request.scope ?? "chat"], request, {
          atOnce,
          probes,
        });
        const maxWaitMs = Math.max(...Object.values(ofProbes).map((wait) => wait.maxWaitMs));
        waits.set(request.kind, [...(waits.get(request.kind) ?? []), maxWaitMs]);
      }
      for (const [kind, samples] of waits) {
        findings.push({
          what: `${samples.length} of kind ${kind}, ${atOnce === 1 ? "alone" : `${atOnce} at once`}`,
          unit: "ms",
          samples: { "longest wait": samples },
          figure: Math.max(...samples),
          goal: goalMs,
        });
      }
    }
    return findings;
  },
};
