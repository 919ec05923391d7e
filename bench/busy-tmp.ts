import { startHost } from "@thinkery/sdk/test";
import { expensiveScripts } from "../tests/kit/expensive-requests.ts";
import { teamAgents, teamRequests } from "../tests/kit/expensive-teams.ts";
import { createBystander, sendWhileOthersWait } from "../tests/kit/send-while-others-wait.ts";
const only = process.env.ONLY;
const host = await startHost({ scripts: expensiveScripts });
const tok = async (scope: "chat" | "admin") =>
  (await host.client.call("createToken", { body: { name: `b ${scope}`, scopes: ["read", scope] } })).token;
const tokens = { chat: await tok("chat"), admin: await tok("admin") };
const requests = teamRequests.filter((r) => !only || new RegExp(only).test(r.agent + " " + r.what));
const needed = new Set(requests.map((r) => r.agent));
for (const { name, create } of teamAgents)
  if (needed.has(name)) {
    const t = Date.now();
    await create(host);
    console.log("created", name, Date.now() - t, "ms");
  }
const probes = await createBystander(host);
for (const atOnce of [1, 8])
  for (const request of requests) {
    try {
      const { statuses, totalMs, waits } = await sendWhileOthersWait(host, tokens[request.scope ?? "chat"], request, {
        atOnce,
        probes,
      });
      const max = Math.max(...Object.values(waits).map((w) => w.maxWaitMs));
      console.log(
        max > (atOnce === 1 ? 250 : 500) ? "!!" : "  ",
        String(atOnce),
        request.what.slice(0, 60).padEnd(60),
        statuses.join(","),
        "total",
        totalMs.toFixed(0),
        "wait",
        max.toFixed(0),
      );
    } catch (error) {
      console.log("ERR", request.what, (error as Error).message);
    }
  }
await host.stop?.();
process.exit(0);
