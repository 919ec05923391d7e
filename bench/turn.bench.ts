import type { Bench, Finding } from "./kit/bench.ts";
import { startModelServer } from "./kit/model.ts";
import { canTrace } from "./kit/process.ts";
import type { Subject } from "./kit/subject.ts";
import { createFindings, formatTable } from "./turn/goals.ts";
import { lean } from "./turn/lean.ts";
import { measure } from "./turn/measure.ts";
import { ours } from "./turn/ours.ts";
import { loadPeers } from "./turn/peers.ts";

const rounds = 10;

export const turn: Bench = {
  name: "turn",
  about: "a user message, one tool call and the final text, all durable, with a model that responds instantly",
  async run() {
    const subjects = [lean, ours, ...(await loadPeers())].filter(isSelected);
    if (!canTrace()) console.log("  fsyncs are not counted, because strace is not installed.");
    const findings: Finding[] = [];
    const model = await startModelServer();
    try {
      for (const deltas of [8, 200]) {
        const measured = await measure(subjects, model, deltas, rounds);
        console.log(`\n${formatTable(measured, deltas)}\n`);
        findings.push(...createFindings(measured, deltas));
      }
    } finally {
      await model.stop();
    }
    return findings;
  },
};

/** Tells whether a subject can run and is selected; `SUBJECTS="lean loop,ours" npm run bench -- turn` selects some. */
function isSelected(subject: Subject): boolean {
  const wanted = process.env.SUBJECTS?.split(",");
  if (wanted && !wanted.includes(subject.name)) return false;
  const reason = subject.absent?.();
  if (reason) console.log(`  Skipping ${subject.name}: ${reason}`);
  return !reason;
}
