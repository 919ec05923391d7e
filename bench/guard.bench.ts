import http from "node:http";
import { startHostProcess } from "../tests/kit/host-process.ts";
import { send, type WireRequest } from "../tests/kit/wire.ts";
import { startBareWorker } from "../tests/kit/workerd.ts";
import { type Bench, getMedian, compareMedians } from "./kit/bench.ts";

const rounds = 15;
const requests = 400;

export const guard: Bench = {
  name: "guard",
  about: "p50 of reading one agent through guard, router and schemas, against the same object without them",
  async run() {
    const bare = await startBareWorker(new URL("guard.worker.ts", import.meta.url), {
      objects: ["Think", "Agency", "User"],
    });
    const host = await startHostProcess();
    const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
    const barePort = Number(new URL(bare.url).port);
    await send({ port: barePort, path: "/", method: "POST" });
    await host.client.call("createAgent", { params: { agency: "global" }, body: { name: "alice" } });

    const direct: WireRequest = { port: barePort, path: "/agent", agent };
    const guarded: WireRequest = {
      port: host.port,
      path: "/agents/alice",
      agent,
      headers: { authorization: `Bearer ${host.token}` },
    };
    await measureP50(direct);
    await measureP50(guarded);
    const ours: number[] = [];
    const theirs: number[] = [];
    // Alternating, so that other load on the machine affects both.
    for (let round = 0; round < rounds; round++) {
      theirs.push(await measureP50(direct));
      ours.push(await measureP50(guarded));
    }
    agent.destroy();
    await host.stop();
    await bare.stop();
    return [
      compareMedians("p50, guarded / direct", ["through guard and router", ours], ["the bare object", theirs], 1.5),
    ];
  },
};

async function measureP50(request: WireRequest): Promise<number> {
  const times: number[] = [];
  for (let number = 0; number < requests; number++) {
    const startedAt = performance.now();
    const { status } = await send(request);
    if (status !== 200) throw new Error(`unexpected status ${status}`);
    times.push(performance.now() - startedAt);
  }
  return getMedian(times);
}
