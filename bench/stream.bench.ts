import type { Bench, Finding } from "./kit/bench.ts";
import { openHostSubject } from "./kit/host-subject.ts";
import { startModelServer } from "./kit/model.ts";
import { AgentSocket } from "./kit/subject.ts";

const agents = 50;
const seconds = Number(process.env.SECONDS_OF_STREAM ?? 30);
const model = `paced-100-${seconds}`;

export const stream: Bench = {
  name: "stream",
  about: `${agents} agents at once, each with a model that says 100 words a second for ${seconds} s`,
  async run() {
    const server = await startModelServer();
    const { house, create, dial } = await openHostSubject(server.base);
    /** For each agent, how old its oldest word was when it arrived. */
    const latest: number[] = [];
    const heard: number[] = [];
    const talks: AgentSocket[] = [];
    for (let agent = 0; agent < agents; agent++) {
      await create(`stream-${agent}`, model);
      const see = ({ type, delta = "" }: { type: string; delta?: string }) => {
        if (type !== "text_delta") return;
        const now = performance.timeOrigin + performance.now();
        for (const [, sent] of delta.matchAll(/@([\d.]+) /g)) {
          heard[agent] = (heard[agent] ?? 0) + 1;
          latest[agent] = Math.max(latest[agent] ?? 0, now - Number(sent));
        }
      };
      talks.push(await AgentSocket.open(dial(`stream-${agent}`), see));
    }
    const pings: number[] = [];
    let streaming = true;
    const pinging = (async () => {
      while (streaming) {
        const begun = performance.now();
        await house.client.call("health");
        pings.push(performance.now() - begun);
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    })();
    await Promise.all(talks.map((talk) => talk.runTurn()));
    streaming = false;
    await pinging;
    for (const talk of talks) talk.close();
    await house.stop();
    await server.stop();
    const missing = heard.filter((words) => words !== seconds * 100).length + agents - heard.length;
    if (missing > 0) throw new Error(`${missing} agents did not pass on every word.`);
    const p99 = pings.sort((a, b) => a - b)[Math.floor(pings.length * 0.99)] ?? NaN;
    const word: Finding = {
      what: "the latest word",
      unit: "ms",
      samples: { "latest of each agent": latest },
      figure: Math.max(...latest),
      goal: 250,
    };
    const ping: Finding = { what: "ping p99", unit: "ms", samples: { "GET /health": pings }, figure: p99, goal: 50 };
    return [word, ping];
  },
};
