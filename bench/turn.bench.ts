import type { Bench, Finding } from "./kit/bench.ts";
import { startModelServer } from "./kit/model.ts";
import { canTrace } from "./kit/process.ts";
import type { Subject } from "./kit/subject.ts";
import { goals, table } from "./turn/goals.ts";
import { lean } from "./turn/lean.ts";
import { measure } from "./turn/measure.ts";
import { ours } from "./turn/ours.ts";
import { peers } from "./turn/peers.ts";

const rounds = 10;

export const turn: Bench = {
  name: "turn",
  about: "a user message, one tool call, the final text: all of it durable, with a model that needs no time to think",
  async run() {
    const subjects = (await Promise.all([lean, ours, ...(await peers())].map(present))).filter(
      (subject) => subject !== undefined,
    );
    if (!canTrace()) console.log("  fsyncs are not counted: strace is not installed.");
    const findings: Finding[] = [];
    const model = await startModelServer();
    try {
      for (const deltas of [8, 200]) {
        const measured = await measure(subjects, model, deltas, rounds);
        console.log(`\n${table(measured, deltas)}\n`);
        findings.push(...goals(measured, deltas));
      }
    } finally {
      await model.stop();
    }
    return findings;
  },
};

/** Only some, when somebody asks for some: `SUBJECTS="lean loop,ours" npm run bench -- turn`. */
async function present(subject: Subject): Promise<Subject | undefined> {
  const wanted = process.env.SUBJECTS?.split(",");
  if (wanted && !wanted.includes(subject.name)) return undefined;
  const reason = subject.absent?.();
  if (reason) console.log(`  ${subject.name} is left out: ${reason}`);
  return reason ? undefined : subject;
}
