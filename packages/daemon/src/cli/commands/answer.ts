import { text as readText } from "node:stream/consumers";
import { type AgentTarget, fail, type Question } from "@thinkery/sdk";
import { type Client, withRetry } from "@thinkery/sdk/client";
import type { Command } from "commander";
import { findAgent } from "../agents.ts";
import type { Cli } from "../cli.ts";
import { connect } from "../connect.ts";
import { toOneLine } from "../conversation/lines.ts";
import { formatExamples } from "../help.ts";
import { parseAgentTarget } from "../target.ts";
import { parseAnswer } from "../waits/answer-value.ts";
import { formatTarget } from "../waits/explain.ts";
import { formatQuestion } from "../waits/format.ts";
import { findByPrefix, listQuestions } from "../waits/inbox.ts";

interface AnswerFlags {
  question?: string;
  jsonValue?: boolean;
}

export function addAnswer(program: Command, cli: Cli): void {
  program
    .command("answer")
    .description("answer a question that an agent asks; without a value, show it")
    .argument("<target>", "agent, as alice, alice/sub-agent or alice@review")
    .argument("[value...]", "the answer; reads stdin if -")
    .option("--question <id>", "which question, if several are open; the start of its id is enough")
    .option("--json-value", "the value is JSON, even if the question asks for text")
    .addHelpText(
      "after",
      formatExamples(
        ["answer alice", "show what she asks"],
        ["answer alice Blue.", ""],
        [`answer alice '{"color": "blue"}'`, "if the question has a schema"],
        ["thinkery answer alice - < report.md", ""],
      ),
    )
    .action(async (given: string, words: string[], { question: id, jsonValue = false }: AnswerFlags) => {
      const target = parseAgentTarget(cli, given);
      const value = words.length === 1 && words[0] === "-" ? await readStdin() : words.join(" ");
      const { client } = await connect(cli);
      await findAgent(client, target);
      const question = await findQuestion(client, target, id);
      if (words.length === 0) return showQuestion(cli, target, question);
      const { agency, agent } = target;
      const run = await client.call("answerQuestion", {
        params: { agency, agent },
        body: { continuationId: question.id, value: parseAnswer(value, question.schema, jsonValue) },
      });
      cli.output.reply(run, () => `Answered ${agent}. The turn goes on.`);
    });
}

const readStdin = async () => (await readText(process.stdin)).replace(/\r?\n$/, "");

async function findQuestion(client: Client, target: AgentTarget, id: string | undefined): Promise<Question> {
  const questions = await listQuestions(client, target);
  const found =
    id === undefined ? questions[0] : findByPrefix(questions, id, ({ prompt = "" }) => toOneLine(prompt, 60));
  if (id === undefined && questions.length > 1) {
    const list = questions.map((question) => `  ${question.id}  ${toOneLine(question.prompt ?? "", 80)}`);
    throw fail("bad_request", ["Several questions are open. Say which with --question:", ...list].join("\n"));
  }
  if (found) return found;
  // It may be too new for the inbox.
  const { agency, agent } = target;
  const { state } = await withRetry((signal) => client.call("getState", { params: { agency, agent }, signal }));
  const { pendingContinuation: pending } = state;
  if (pending?.kind === "input" && (id === undefined || pending.id.startsWith(id))) return { ...pending, agent };
  if (pending?.kind === "approval" && id === undefined) {
    throw fail("conflict", `${agent} waits for an approval. See it with \`thinkery approval show ${pending.id}\`.`);
  }
  throw fail("not_found", id === undefined ? `${agent} asks nothing.` : `${agent} has no open question “${id}”.`);
}

function showQuestion(cli: Cli, target: AgentTarget, question: Question): void {
  cli.output.reply(question, () => formatQuestion(question).join("\n"));
  if (!cli.output.isJson) {
    const value = question.schema ? "'<value>'" : '"…"';
    cli.output.writeNote(`Answer with \`thinkery answer ${formatTarget(cli, target)} ${value}\`.`);
  }
}
