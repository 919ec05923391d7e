import type { Bench, Finding } from "./kit/bench.ts";
import { openHostSubject } from "./kit/host-subject.ts";
import { startModelServer } from "./kit/model.ts";
import { AgentSocket } from "./kit/subject.ts";

const agents = 50;
const seconds = Number(process.env.SECONDS_OF_STREAM ?? 30);
const model = `paced-100-${seconds}`;

export const stream: Bench = {
  name: "stream",
  about: `${agents} concurrent agents, each with a model that streams 100 words per second for ${seconds} s`,
  async run() {
    const server = await startModelServer();
    const { host, create, dial } = await openHostSubject(server.base);
    /** For each agent, the maximum delay of a word in milliseconds. */
    const maxDelays: number[] = [];
    const wordCounts: number[] = [];
    const sockets: AgentSocket[] = [];
    for (let agent = 0; agent < agents; agent++) {
      await create(`stream-${agent}`, model);
      const handleFrame = ({ type, delta = "" }: { type: string; delta?: string }) => {
        if (type !== "text_delta") return;
        const now = performance.timeOrigin + performance.now();
        for (const [, sent] of delta.matchAll(/@([\d.]+) /g)) {
          wordCounts[agent] = (wordCounts[agent] ?? 0) + 1;
          maxDelays[agent] = Math.max(maxDelays[agent] ?? 0, now - Number(sent));
        }
      };
      sockets.push(await AgentSocket.open(dial(`stream-${agent}`), handleFrame));
    }
    const pings: number[] = [];
    let isStreaming = true;
    const pinging = (async () => {
      while (isStreaming) {
        const startedAt = performance.now();
        await host.client.call("health");
        pings.push(performance.now() - startedAt);
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    })();
    await Promise.all(sockets.map((socket) => socket.runTurn()));
    isStreaming = false;
    await pinging;
    for (const socket of sockets) socket.close();
    await host.stop();
    await server.stop();
    const missing = wordCounts.filter((words) => words !== seconds * 100).length + agents - wordCounts.length;
    if (missing > 0) throw new Error(`${missing} agents did not deliver every word.`);
    const p99 = pings.sort((a, b) => a - b)[Math.floor(pings.length * 0.99)] ?? NaN;
    const word: Finding = {
      what: "maximum delay of a word",
      unit: "ms",
      samples: { "maximum of each agent": maxDelays },
      figure: Math.max(...maxDelays),
      goal: 250,
    };
    const ping: Finding = { what: "ping p99", unit: "ms", samples: { "GET /health": pings }, figure: p99, goal: 50 };
    return [word, ping];
  },
};
