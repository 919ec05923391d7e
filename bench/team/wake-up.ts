import { type HostProcess, startHostProcess } from "../../tests/kit/host-process.ts";
import { waitUntil } from "../../tests/kit/wait-until.ts";
import { compareMedians, type Finding, getMedian } from "../kit/bench.ts";
import { createModelEnvironment } from "../kit/host-subject.ts";
import type { ModelServer } from "../kit/model.ts";
import { forEachConcurrently } from "../waiting/for-each-concurrently.ts";

const agency = "team";
const agents = Array.from({ length: 10 }, (_, index) => `member-${index}`);
const samplesPerRound = 60;
const skippedSamples = 10;
const messagesPerRound = 500;
const poll = { intervalMs: 2, timeoutMs: 120_000 };

async function useTeam<T>(server: ModelServer, work: (host: HostProcess) => Promise<T>): Promise<T> {
  const host = await startHostProcess({ env: createModelEnvironment(server.base) });
  try {
    const { client } = host;
    await client.call("createAgency", { body: { id: agency } });
    // Without tools, the model says its text at once.
    const blueprint = { name: "plain", model: "openai:zero-8", tags: [] };
    await client.call("putBlueprint", { params: { agency }, body: blueprint });
    for (const name of agents)
      await client.call("createAgent", { params: { agency }, body: { name, blueprint: "plain" } });
    return await work(host);
  } finally {
    await host.stop();
  }
}

const post = ({ client }: HostProcess, to: string) =>
  client.call("postChannelMessage", {
    params: { agency, channel: "general" },
    body: { content: `@${to}, say a word.` },
  });

const invoke = ({ client }: HostProcess, agent: string) =>
  client.call("invoke", { params: { agency, agent }, body: { message: "Say a word." } });

const isIdle = async ({ client }: HostProcess, agent: string) =>
  (await client.call("getState", { params: { agency, agent } })).state.status === "idle" &&
  (await client.call("listInbox", { params: { agency, agent }, query: { status: "open", limit: 1 } })).items.length ===
    0;

/** Compares the time from a message in a channel to the first model call of its turn with that of a direct message. */
export function measureWakeUp(server: ModelServer, rounds: number): Promise<Finding> {
  return useTeam(server, async (host) => {
    const measure = async (start: () => Promise<unknown>, agent: string) => {
      await server.reset();
      const startedAt = performance.timeOrigin + performance.now();
      await start();
      const [arrival = NaN] = await waitUntil(
        "the model call",
        async () => {
          const { arrivals } = await server.stats();
          return arrivals.length > 0 && arrivals;
        },
        poll,
      );
      await waitUntil("the end of the turn", () => isIdle(host, agent), poll);
      return arrival - startedAt;
    };
    const samples = { posted: [] as number[], direct: [] as number[] };
    for (let sample = 0; sample < rounds * samplesPerRound + skippedSamples; sample++) {
      const agent = agents[sample % agents.length] as string;
      const posted = await measure(() => post(host, agent), agent);
      const direct = await measure(() => invoke(host, agent), agent);
      if (sample < skippedSamples) continue;
      samples.posted.push(posted);
      samples.direct.push(direct);
    }
    return compareMedians(
      "post to model call / direct message to model call",
      ["post to model call", samples.posted],
      ["direct message to model call", samples.direct],
      2,
    );
  });
}

/** Compares messages through a channel, until all of them are handled, with as many direct turns of the same agents. */
export function measureThroughput(server: ModelServer, rounds: number): Promise<Finding> {
  return useTeam(server, async (host) => {
    const measure = async (send: (agent: string) => Promise<unknown>) => {
      const startedAt = performance.now();
      const targets = Array.from({ length: messagesPerRound }, (_, index) => agents[index % agents.length] as string);
      await forEachConcurrently(targets, send);
      for (const agent of agents) await waitUntil(`${agent} to be done`, () => isIdle(host, agent), poll);
      return messagesPerRound / ((performance.now() - startedAt) / 1000);
    };
    const [channel, direct]: [number[], number[]] = [[], []];
    await measure((agent) => post(host, agent));
    for (let round = 0; round < rounds; round++) {
      channel.push(await measure((agent) => post(host, agent)));
      direct.push(await measure((agent) => invoke(host, agent)));
    }
    return {
      what: "messages per second through a channel / direct turns per second",
      unit: "turns/s",
      samples: { "messages through a channel": channel, "direct turns": direct },
      figure: getMedian(channel) / getMedian(direct),
      goal: 1,
      atLeast: true,
    };
  });
}
