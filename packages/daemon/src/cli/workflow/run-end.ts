import type { WorkflowRun } from "@thinkery/sdk";
import type { Cli } from "../cli.ts";
import { formatCost } from "../conversation/lines.ts";
import { formatDuration } from "../duration.ts";
import { exitCodes } from "../exit.ts";
import { sanitize, sanitizeIndented } from "../output.ts";
import { explainWaits } from "../waits/explain.ts";
import type { OpenWaits } from "../waits/inbox.ts";
import { formatCount } from "./agent-lines.ts";

interface RunEndOptions {
  isResident: boolean;
  isInterrupted: boolean;
  /** What the run waits for, if it is not over. */
  waits: OpenWaits | undefined;
}

/** Prints how a run ended, with its result on stdout, and returns the exit code. */
export function printRunEnd(cli: Cli, run: WorkflowRun, { isResident, isInterrupted, waits }: RunEndOptions): number {
  const { output } = cli;
  if (output.isJson && isResident) output.writeJsonLine({ type: "done", run });
  else if (output.isJson) output.writeJson(waits ? { ...run, ...waits } : run);
  const say = (text: string) => output.writeMessage(sanitizeIndented(text));
  const target = `@${run.agency}`;
  switch (run.status) {
    case "completed":
      if (!output.isJson && run.result) output.writeText(sanitize(run.result));
      output.writeNote(`Completed: ${summarizeRun(run)}.`);
      return exitCodes.ok;
    case "failed":
      say(`thinkery: The run failed: ${run.message ?? run.reason ?? "no reason is known."}`);
      output.writeNote(`${summarizeRun(run)}. See \`thinkery workflow show ${target}\`.`);
      return run.reason === "budget" ? exitCodes.budget : exitCodes.failed;
    case "stopped":
      say(`Stopped. Resume it with \`thinkery workflow start ${target}\`.`);
      if (isResident) return exitCodes.ok;
      return isInterrupted ? exitCodes.interrupted : exitCodes.failed;
    default:
      for (const line of explainWaits(cli, waits ?? { approvals: [], questions: [] }, (diff) =>
        output.colorStderrDiffLine(diff),
      ))
        output.writeMessage(line);
      say(`The run goes on. Follow it with \`thinkery workflow follow ${target}\`.`);
      return isInterrupted ? exitCodes.interrupted : exitCodes.waiting;
  }
}

/** Summarizes a run in one line: `12 turns of 3 agents in 1m 20s, 12.3k tokens, $0.02`. */
export function summarizeRun({ turns, agents, usage, startedAt, endedAt }: WorkflowRun, now = Date.now()): string {
  const count = (amount: number, noun: string) => `${amount} ${noun}${amount === 1 ? "" : "s"}`;
  const seconds = ((endedAt === undefined ? now : Date.parse(endedAt)) - Date.parse(startedAt)) / 1000;
  const tokens = formatCount(usage.inputTokens + usage.outputTokens);
  const cost = usage.costUsd ? `, ${formatCost(usage.costUsd)}` : "";
  return `${count(turns, "turn")} of ${count(agents.length, "agent")} in ${formatDuration(seconds)}, ${tokens} tokens${cost}`;
}
