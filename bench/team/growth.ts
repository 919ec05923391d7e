import { type HostProcess, startHostProcess } from "../../tests/kit/host-process.ts";
import { type Finding, getMedian } from "../kit/bench.ts";
import { measureProcessorTime } from "../kit/process.ts";
import { forEachConcurrently } from "../waiting/for-each-concurrently.ts";

const smallCount = 1000;
const largeCount = Number(process.env.MESSAGES ?? 100_000);
const postsPerSample = 500;
const listsPerSample = 200;
const samplesPerRound = 4;
const maxRatio = 1.2;

const agencies = { small: smallCount, large: largeCount };
type Size = keyof typeof agencies;

/** Compares what a message costs, and the page of the newest, in a channel with many messages and in one with few. */
export async function measureGrowth(rounds: number): Promise<Finding[]> {
  const host = await startHostProcess();
  try {
    for (const [id, count] of Object.entries(agencies)) {
      await host.client.call("createAgency", { body: { id } });
      await post(host, id, count);
    }
    const posting = { small: [] as number[], large: [] as number[] };
    const listing = { small: [] as number[], large: [] as number[] };
    // Alternately, because other work on the machine changes both alike.
    for (let sample = 0; sample < rounds * samplesPerRound; sample++) {
      const order: Size[] = sample % 2 ? ["small", "large"] : ["large", "small"];
      for (const size of order) {
        posting[size].push(await measure(host, postsPerSample, (count) => post(host, size, count)));
        listing[size].push(await measure(host, listsPerSample, (count) => list(host, size, count)));
      }
    }
    const toFinding = (what: string, { small, large }: Record<Size, number[]>): Finding => ({
      what: `${what} at ${largeCount} messages / at ${smallCount}`,
      unit: "ms",
      samples: { [`${what}, ${largeCount} messages`]: large, [`${what}, ${smallCount} messages`]: small },
      figure: getMedian(large) / getMedian(small),
      goal: maxRatio,
    });
    return [toFinding("CPU per message", posting), toFinding("CPU per newest page", listing)];
  } finally {
    await host.stop();
  }
}

/** Returns the CPU time in ms that each repetition takes. */
async function measure(host: HostProcess, count: number, work: (count: number) => Promise<void>): Promise<number> {
  const pids = [host.daemon.pid ?? 0];
  const start = measureProcessorTime(pids);
  await work(count);
  return (measureProcessorTime(pids) - start) / count;
}

const repeat = (count: number, work: (index: number) => Promise<unknown>) =>
  forEachConcurrently([...Array(count).keys()], work);

const post = ({ client }: HostProcess, agency: string, count: number) =>
  repeat(count, (index) =>
    client.call("postChannelMessage", {
      params: { agency, channel: "general" },
      body: { content: `Message ${index} is for nobody, and has about as many words as people write in one line.` },
    }),
  );

const list = ({ client }: HostProcess, agency: string, count: number) =>
  repeat(count, () =>
    client.call("listChannelMessages", { params: { agency, channel: "general" }, query: { newest: "1", limit: 50 } }),
  );
