import type { Feedback } from "@thinkery/sdk";
import { withRetry } from "@thinkery/sdk/client";
import { type Command, InvalidArgumentError } from "commander";
import { explainMissingAgency } from "../agents.ts";
import type { Cli } from "../cli.ts";
import { connect } from "../connect.ts";
import { formatWhen } from "../format-when.ts";
import { formatExamples } from "../help.ts";
import { readAllPages } from "../lists.ts";
import { readMessage } from "../message.ts";
import { sanitizeIndented } from "../output.ts";
import { parseAgencyTarget, parseTarget } from "../target.ts";

const agencyHelp = "agency, as @review (default: @global)";
const maxFeedbackChars = 10_000;

export function addFeedback(program: Command, cli: Cli): void {
  const group = program
    .command("feedback")
    .description("leave feedback on how an agency works, or read what its agents and people think")
    .argument("[target]", "agency, as @review (default: @global), or an agent with its agency, as alice@review")
    .argument("[message...]", "what you think; reads stdin if omitted or -")
    .option("--rating <number>", "1 (bad) to 5 (good)", parseRating)
    .addHelpText(
      "after",
      formatExamples(
        ['feedback "The reviewer misses tests." --rating 3', ""],
        ['feedback @review "Well done!" --rating 5', ""],
        ["feedback ls @review", ""],
      ),
    )
    .action(async (first: string | undefined, rest: string[], { rating }: { rating?: number }) => {
      const { agency, about, words } = splitWords(cli, first, rest);
      const message = about + (await readMessage(words, maxFeedbackChars));
      const { client } = await connect(cli);
      const body = { message, ...(rating === undefined ? {} : { rating }) };
      const feedback = await client
        .call("createFeedback", { params: { agency }, body })
        .catch(async (error: unknown) => {
          throw await explainMissingAgency(client, agency, error);
        });
      cli.output.reply(feedback, () => `Thank you. See all feedback with \`thinkery feedback ls @${agency}\`.`);
    });

  group
    .command("ls")
    .description("list feedback, newest last")
    .argument("[agency]", agencyHelp)
    .addHelpText("after", formatExamples(["feedback ls", ""], ["feedback ls @review", ""]))
    .action(async (text: string | undefined) => {
      const { agency } = parseAgencyTarget(cli, text);
      const { client } = await connect(cli);
      const feedback = await readAllPages(async (query) => {
        const page = await withRetry((signal) => client.call("listFeedback", { params: { agency }, query, signal }));
        return { items: page.feedback, next: page.next };
      }).catch(async (error: unknown) => {
        throw await explainMissingAgency(client, agency, error);
      });
      cli.output.reply({ feedback }, () => {
        if (feedback.length === 0) return `No feedback in ${agency} yet.`;
        return feedback
          .toReversed()
          .map((one) => formatFeedback(cli, one))
          .join("\n\n");
      });
    });
}

/** The first word is a target if it has an agency, and part of the message otherwise. */
function splitWords(
  cli: Cli,
  first: string | undefined,
  rest: string[],
): { agency: string; about: string; words: string[] } {
  const { agency } = parseAgencyTarget(cli, undefined);
  if (first === undefined || !/^[^\s@]*@\S+$/.test(first))
    return { agency, about: "", words: first === undefined ? rest : [first, ...rest] };
  const target = parseTarget(cli, first);
  return { agency: target.agency, about: target.kind === "agent" ? `@${target.agent}: ` : "", words: rest };
}

function formatFeedback(cli: Cli, { from, fromKind, message, rating, runId, createdAt }: Feedback): string {
  const marks = [
    formatWhen(createdAt, Date.now()),
    ...(fromKind === "agent" ? ["agent"] : []),
    ...(rating === undefined ? [] : [`${rating} of 5`]),
    ...(runId === undefined ? [] : [`turn ${runId}`]),
  ];
  return `${cli.output.bold(sanitizeIndented(from))}  ${cli.output.dim(sanitizeIndented(marks.join(" · ")))}\n  ${sanitizeIndented(message)}`;
}

function parseRating(text: string): number {
  if (!/^[1-5]$/.test(text)) throw new InvalidArgumentError("Expected a whole number from 1 to 5.");
  return Number(text);
}
