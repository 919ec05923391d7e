import { startHost, type TestHost } from "@thinkery/sdk/test";
import { afterAll, beforeAll, expect, test } from "vitest";
import { expensiveRequests, expensiveScripts, largeAgents } from "../kit/expensive-requests.ts";
import { sample } from "../kit/sample.ts";
import { createBystander, type Probes, sendWhileOthersWait } from "../kit/send-while-others-wait.ts";

// A client with the scope chat, or one that may deploy, asks for as much work as it can. Others are served all the while.

const requests = sample(expensiveRequests, { name: "expensive requests", size: 14, kindOf: ({ kind }) => kind });

let host: TestHost;
const tokens = { chat: "", admin: "" };
let probes: Probes;

beforeAll(async () => {
  host = await startHost({ scripts: expensiveScripts });
  for (const scope of ["chat", "admin"] as const)
    ({ token: tokens[scope] } = await host.client.call("createToken", {
      body: { name: `busy ${scope}`, scopes: ["read", scope] },
    }));
  probes = await createBystander(host);
  const needed = new Set(requests.map(({ agent }) => agent));
  for (const { name, create } of largeAgents) if (needed.has(name)) await create(host);
}, 240_000);

afterAll(() => host?.stop());

test("the corpus is large", () => {
  expect(expensiveRequests.length).toBeGreaterThanOrEqual(100);
});

test.each([1, 8])(
  "%i at once: each is answered, and others are served meanwhile",
  async (atOnce) => {
    for (const request of requests) {
      const what = `${request.kind}: ${request.what}`;
      const { statuses, totalMs, waits } = await sendWhileOthersWait(host, tokens[request.scope ?? "chat"], request, {
        atOnce,
        probes,
      });
      expect([what, statuses.filter((status) => !request.statuses.includes(status))]).toEqual([what, []]);
      // Long work is done in slices, and owners take turns: nobody has to wait for all of it.
      const maxWaitMs = Math.max(...Object.values(waits).map((wait) => wait.maxWaitMs));
      if (!request.isPage)
        expect([what, totalMs, waits, maxWaitMs < Math.max(1000, totalMs / 2)]).toEqual([what, totalMs, waits, true]);
      const minAnswers = Math.max(1, totalMs / 2000);
      for (const { answers } of Object.values(waits))
        expect([what, totalMs, waits, answers >= minAnswers]).toEqual([what, totalMs, waits, true]);
    }
    // Main was not restarted: nothing held it so long that the daemon noticed.
    expect((await host.client.call("health")).restarts ?? 0).toBe(0);
  },
  600_000,
);
