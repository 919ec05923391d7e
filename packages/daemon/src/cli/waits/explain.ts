import type { AgentTarget } from "@thinkery/sdk";
import type { Cli } from "../cli.ts";
import { toOneLine } from "../conversation/lines.ts";
import { getDefaultAgency, getUser } from "../target.ts";
import { formatCalls, formatQuestion, summarizeCalls } from "./format.ts";
import { isSameAgent, type OpenWaits, shortenIds, toAgentTarget } from "./inbox.ts";

/** Formats a target as a person would type it. */
export function formatTarget(cli: Cli, { agent, agency }: Pick<AgentTarget, "agent" | "agency">): string {
  return agency === getDefaultAgency(cli) ? agent : `${agent}@${agency}`;
}

/** Formats who asks, from an address such as `global~alice`. */
export const formatAsker = (cli: Cli, address: string) => formatTarget(cli, toAgentTarget(address, getUser(cli)));

/** Says what agents wait for, and with which commands to answer. */
export function explainWaits(
  cli: Cli,
  { approvals, questions }: OpenWaits,
  paint?: (line: string) => string,
): string[] {
  const shorten = shortenIds(approvals.map(({ id }) => id));
  return [
    ...approvals.flatMap(({ id, agent, calls }) => [
      `${formatAsker(cli, agent)} waits for your approval:`,
      ...formatCalls(
        calls.filter(({ decision }) => !decision),
        paint,
      ).map((line) => `  ${line}`),
      `Approve it with \`thinkery approval approve ${shorten(id)}\`, or deny it with \`thinkery approval deny ${shorten(id)} --reason "…"\`.`,
    ]),
    ...questions.flatMap((question) => [
      `${formatAsker(cli, question.agent)} waits for your answer:`,
      ...formatQuestion(question).map((line) => `  ${line}`),
      `Answer with \`thinkery answer ${formatAsker(cli, question.agent)} ${question.schema ? "'<value>'" : '"…"'}\`.`,
    ]),
  ];
}

/** Says in one line each what agents wait for, and which command shows more. */
export function summarizeWaits(cli: Cli, { approvals, questions }: OpenWaits, target: AgentTarget): string[] {
  const shorten = shortenIds(approvals.map(({ id }) => id));
  // Only sub-agents are named: the others are the target itself.
  const formatOrigin = (address: string) => {
    const asker = toAgentTarget(address, getUser(cli));
    return isSameAgent(asker, target) ? "" : `, asked by ${formatTarget(cli, asker)}`;
  };
  return [
    ...approvals.map(
      ({ id, agent, calls }) =>
        `approval of ${summarizeCalls(calls)}${formatOrigin(agent)} (thinkery approval show ${shorten(id)})`,
    ),
    ...questions.map(
      ({ agent, prompt = "" }) =>
        `an answer to “${toOneLine(prompt, 80)}”${formatOrigin(agent)} (thinkery answer ${formatAsker(cli, agent)})`,
    ),
  ];
}
