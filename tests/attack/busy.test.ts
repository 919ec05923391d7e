import { startHost, type TestHost } from "@thinkery/sdk/test";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createLargeAgent, expensiveRequests, sendWhileOthersWait } from "../kit/expensive-requests.ts";

// A client with the scope chat asks for as much work as it can. Others are served all the while.

let host: TestHost;
let token: string;

beforeAll(async () => {
  host = await startHost();
  ({ token } = await host.client.call("createToken", { body: { name: "busy", scopes: ["read", "chat"] } }));
});

afterAll(() => host?.stop());

test.each([1, 8])(
  "%i expensive requests of each kind at once are answered, and others are served meanwhile",
  async (atOnce) => {
    const name = `large-${atOnce}`;
    await createLargeAgent(host, name);
    for (const request of expensiveRequests) {
      const { what, status } = request;
      const { statuses, totalMs, maxWaitMs } = await sendWhileOthersWait(host, token, name, request, atOnce);
      expect([what, ...statuses]).toEqual([what, ...statuses.map(() => status)]);
      // They run one after the other, with pauses: nobody has to wait for all of them.
      if (atOnce > 1 && totalMs > 1000) expect([what, maxWaitMs < totalMs / 2]).toEqual([what, true]);
    }
    // Main was not restarted: nothing held it so long that the daemon noticed.
    expect((await host.client.call("health")).restarts ?? 0).toBe(0);
  },
);
