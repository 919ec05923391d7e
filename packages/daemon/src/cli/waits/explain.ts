import type { AgentTarget } from "@thinkery/sdk";
import type { Cli } from "../cli.ts";
import { getDefaultAgency } from "../target.ts";
import { formatCalls, formatQuestion } from "./format.ts";
import { type OpenWaits, shortenIds, toAgentTarget } from "./inbox.ts";

/** Formats a target as a person would type it. */
export function formatTarget(cli: Cli, { agent, agency }: Pick<AgentTarget, "agent" | "agency">): string {
  return agency === getDefaultAgency(cli) ? agent : `${agent}@${agency}`;
}

/** Formats who asks, from an address such as `global~alice`. */
export const formatAsker = (cli: Cli, address: string) => formatTarget(cli, toAgentTarget(address));

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
