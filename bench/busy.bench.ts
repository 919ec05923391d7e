import { startHost } from "@thinkery/sdk/test";
import { createLargeAgent, expensiveRequests, sendWhileOthersWait } from "../tests/kit/expensive-requests.ts";
import type { Bench, Finding } from "./kit/bench.ts";

const rounds = 3;
const goals = [
  { atOnce: 1, goalMs: 250 },
  { atOnce: 8, goalMs: 500 },
];

/** How long others wait while a chat client asks for as much work as it can. The goals are waits of a person. */
export const busy: Bench = {
  name: "busy",
  about: "the longest wait of another client during expensive requests, alone and eight at once",
  async run() {
    await using host = await startHost();
    const { token } = await host.client.call("createToken", { body: { name: "busy", scopes: ["read", "chat"] } });
    await createLargeAgent(host, "large");
    const findings: Finding[] = [];
    for (const request of expensiveRequests) {
      for (const { atOnce, goalMs } of goals) {
        const waits: number[] = [];
        for (let round = 0; round < rounds; round++)
          waits.push((await sendWhileOthersWait(host, token, "large", request, atOnce)).maxWaitMs);
        const what = `${request.what}, ${atOnce === 1 ? "alone" : `${atOnce} at once`}`;
        findings.push({
          what,
          unit: "ms",
          samples: { "longest wait": waits },
          figure: Math.max(...waits),
          goal: goalMs,
        });
      }
    }
    return findings;
  },
};
