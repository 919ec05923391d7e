import { type Finding, getMedian } from "../kit/bench.ts";
import type { Measured } from "./measure.ts";

type Figure = (measured: Measured) => number;

const alone: Figure = ({ alone }) => getMedian(alone);
const throughput: Figure = ({ throughput }) => getMedian(throughput);
const processor: Figure = ({ processor }) => getMedian(processor);

/** Compares our turn with every other subject and with our goals. */
export function createFindings(all: Measured[], deltas: number): Finding[] {
  const findSubject = (name: string) => all.find(({ subject }) => subject.name === name);
  const [ours, lean, think, deepagents] = ["ours", "lean loop", "@cloudflare/think", "deepagents"].map(findSubject);
  if (!ours) return [];
  const peers = all.filter((one) => one.subject.durable && one !== ours && one !== lean);
  const findBest = (isBetter: (a: Measured, b: Measured) => boolean) =>
    peers.reduce<Measured | undefined>((best, peer) => (!best || isBetter(peer, best) ? peer : best), undefined);
  const fastest = findBest((a, b) => alone(a) < alone(b));
  const busiest = findBest((a, b) => throughput(a) > throughput(b));

  const compareWith = (
    what: string,
    figure: Figure,
    kind: "alone" | "throughput" | "processor",
    other: Measured | undefined,
    goal: number,
  ) => {
    if (!other) return [];
    const label = `${what}, ours / ${other.subject.name}, ${deltas} deltas`;
    const samples = { ours: ours[kind], [other.subject.name]: other[kind] };
    const finding: Finding = {
      what: label,
      unit: kind === "throughput" ? "turns/s" : "ms",
      samples,
      figure: figure(ours) / figure(other),
      goal,
    };
    return [kind === "throughput" ? { ...finding, atLeast: true as const } : finding];
  };
  return [
    ...compareWith("p50", alone, "alone", lean, 2),
    ...compareWith("p50", alone, "alone", fastest, 0.5),
    ...compareWith("p50", alone, "alone", think, 0.3),
    ...compareWith("turns/s", throughput, "throughput", lean, 0.6),
    ...compareWith("turns/s", throughput, "throughput", busiest, 2),
    ...compareWith("processor", processor, "processor", lean, 2),
    ...compareWith("processor", processor, "processor", think, 0.25),
    ...compareWith("processor", processor, "processor", deepagents, 0.3),
    ...(ours.syncs === undefined
      ? []
      : [
          {
            what: `fsyncs per turn, ${deltas} deltas`,
            unit: "fsyncs" as const,
            samples: { ours: [ours.syncs] },
            figure: ours.syncs,
            goal: 6,
          },
        ]),
    {
      what: `to the model, ${deltas} deltas`,
      unit: "KB",
      samples: { ours: [ours.kilobytes] },
      figure: ours.kilobytes,
      goal: 16,
    },
  ];
}

/** Formats all measurements, one line per subject. */
export function formatTable(all: Measured[], deltas: number): string {
  const head = [`${deltas} deltas`, "p50 ms", "turns/s", "CPU ms", "fsyncs", "KB sent", "durable"];
  const rows = all.map((one) => [
    one.subject.name,
    alone(one).toFixed(1),
    throughput(one).toFixed(0),
    processor(one).toFixed(1),
    one.syncs?.toFixed(1) ?? "–",
    one.kilobytes.toFixed(1),
    one.subject.durable ? "yes" : "no",
  ]);
  return [head, ...rows]
    .map(([name, ...cells]) => `  ${name?.padEnd(28)}${cells.map((cell) => cell.padStart(9)).join("")}`)
    .join("\n");
}
