import { randomUUID } from "node:crypto";
import {
  type ChannelTarget,
  fail,
  maxMessageChars,
  type PostedMessage,
  priorities,
  type Priority,
} from "@thinkery/sdk";
import { type Client, withRetry } from "@thinkery/sdk/client";
import { type Command, Option } from "commander";
import type { Cli } from "../cli.ts";
import { type Connection, connect } from "../connect.ts";
import { parseDuration } from "../duration.ts";
import { exitCodes } from "../exit.ts";
import { formatExamples } from "../help.ts";
import { readMessage } from "../message.ts";
import { formatAgencySuffix, parseChannelTarget } from "../target.ts";
import { explainWaits } from "../waits/explain.ts";
import { explainMissingChannel, parseMessageId } from "./messages.ts";
import { channelHelp, createMessagePrinter } from "./read.ts";
import { waitUntilHandled } from "./wait.ts";

export interface ChannelSendFlags {
  to?: string[];
  thread?: string;
  priority?: Priority;
  key?: string;
  wait?: boolean;
  timeout?: number;
}

export function addSend(group: Command, cli: Cli): void {
  group
    .command("send")
    .description("post a message to a channel; the agents that it mentions get a turn")
    .argument("[channel]", channelHelp)
    .argument("[message...]", "message text; reads stdin if omitted or -")
    .option("--to <agent>", "an agent that gets it in addition to those it mentions; repeatable", collect)
    .addOption(new Option("--thread <id>", "the message to answer").argParser(parseMessageId))
    .addOption(new Option("--priority <priority>", "order in the inboxes (default: normal)").choices(priorities))
    .option("--key <id>", "idempotency key: a message with the same key is posted only once")
    .option("--wait", "wait until the agents have handled it, and print what is written meanwhile")
    .addOption(
      new Option("--timeout <duration>", "with --wait: give up waiting after 90s or 10m").argParser(parseDuration),
    )
    .addHelpText(
      "after",
      formatExamples(
        ['channel send general@review "@alice, look at the failing test."', ""],
        ["channel send '#dev' Deployed. --to alice --to bob", ""],
        ["git diff | thinkery channel send '#general@review' --to reviewer --wait", ""],
      ),
    )
    .action(async (text: string | undefined, words: string[], flags: ChannelSendFlags) => {
      const target = parseChannelTarget(cli, requireTarget(text, 'thinkery channel send general "Hello!"'));
      await sendToChannel(cli, target, await readChannelMessage(words), flags);
    });
}

/** Reads a message that may be longer than one to an agent. */
export const readChannelMessage = (words: string[]) => readMessage(words, maxMessageChars);

/** Posts a message, and says whom it woke. */
export async function sendToChannel(
  cli: Cli,
  target: ChannelTarget,
  content: string,
  { to, thread, priority, key, wait, timeout }: ChannelSendFlags,
): Promise<void> {
  if (timeout !== undefined && !wait) throw fail("bad_request", "--timeout requires --wait.");
  const connection = await connect(cli);
  const body = {
    content,
    idempotencyKey: key ?? randomUUID(),
    ...(to === undefined ? {} : { to: to.map((name) => name.replace(/^@/, "")) }),
    ...(thread === undefined ? {} : { thread }),
    ...(priority === undefined ? {} : { priority }),
  };
  const posted = await post(connection.client, target, body);
  for (const { name, suggestion } of posted.unknown ?? []) {
    const hint = suggestion === undefined ? "" : ` Did you mean @${suggestion}?`;
    cli.output.writeNote(`Nobody here is named “${name}”.${hint}`);
  }
  const done = describePosted(cli, target, posted);
  if (!wait || posted.to.length === 0) return cli.output.reply(posted, () => done);
  cli.output.writeNote(done);
  await waitAndReport(cli, connection, target, posted, timeout);
}

function post(
  client: Client,
  target: ChannelTarget,
  body: Parameters<typeof client.call<"postChannelMessage">>[1]["body"],
): Promise<PostedMessage> {
  const params = { agency: target.agency, channel: target.channel };
  return withRetry((signal) => client.call("postChannelMessage", { params, body, signal })).catch(
    async (error: unknown) => {
      throw await explainMissingChannel(client, target, error);
    },
  );
}

async function waitAndReport(
  cli: Cli,
  connection: Connection,
  target: ChannelTarget,
  posted: PostedMessage,
  timeoutSeconds: number | undefined,
): Promise<void> {
  const { output } = cli;
  const messages: unknown[] = [];
  const print = createMessagePrinter(cli, target.agency);
  const { givenUp, open, waits } = await waitUntilHandled(connection, {
    target,
    message: posted,
    timeoutMs: timeoutSeconds === undefined ? undefined : timeoutSeconds * 1000,
    onMessage: (message) => void (output.isJson ? messages.push(message) : print(message)),
  });
  if (output.isJson) output.writeJson({ ...posted, messages, givenUp, open });
  if (waits) {
    for (const line of explainWaits(cli, waits, (diff) => output.colorStderrDiffLine(diff))) output.writeMessage(line);
    return cli.setExitCode(exitCodes.waiting);
  }
  if (open.length + givenUp.length === 0) return output.writeNote(`Handled by ${posted.to.join(", ")}.`);
  for (const { agent, error } of givenUp) output.writeNote(`${agent} could not handle it: ${error}`);
  if (open.length > 0) output.writeNote(`Not handled yet by ${open.join(", ")}, who will go on with it.`);
  cli.setExitCode(exitCodes.failed);
}

function describePosted(cli: Cli, { agency, channel }: ChannelTarget, { id, to, duplicate }: PostedMessage): string {
  const name = `#${channel}${formatAgencySuffix(cli, agency)}`;
  if (duplicate) return `This message is in ${name} already, as ${id}.`;
  if (to.length === 0) return `Posted ${id} to ${name}. It mentions no agent, so it wakes none.`;
  return `Posted ${id} to ${name} for ${to.join(", ")}.`;
}

/** A target may be missing because a shell took it for a comment. */
export function requireTarget(text: string | undefined, example: string): string {
  if (text !== undefined) return text;
  throw fail("bad_request", `Missing target. Quote a channel: shells take # for a comment. Example: ${example}`);
}

function collect(text: string, previous: string[] = []): string[] {
  return [...previous, text];
}
