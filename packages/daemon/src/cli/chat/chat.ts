import { randomUUID } from "node:crypto";
import { type AgentEvent, type AgentTarget, type ChatFrame, fail, isThinkeryError, type Mode } from "@thinkery/sdk";
import type { Talk, TalkState } from "@thinkery/sdk/client";
import { modelUsed } from "../agents.ts";
import type { Cli } from "../cli.ts";
import { describeUsage, usageOf } from "../commands/stats.ts";
import type { Connection } from "../connect.ts";
import { exitCodes } from "../exit.ts";
import { checkMessage } from "../message.ts";
import { Output } from "../output.ts";
import { failureLine } from "../talk/lines.ts";
import { Printer } from "../talk/printer.ts";
import { openTalk } from "../talk/socket.ts";
import { Transcript } from "../talk/transcript.ts";
import { chatHelp, readTyped } from "./commands.ts";
import { Screen } from "./screen.ts";
import { Turns } from "./turns.ts";

const messagesShown = 6;

/** A person and an agent at a terminal, until the person leaves. Answers what to exit with. */
export async function chat(cli: Cli, connection: Connection, target: AgentTarget): Promise<number> {
  const { agency, agent } = target;
  const opened = new Chat(cli, connection, target);
  const interrupt = () => opened.interrupt();
  cli.ownInterrupts();
  process.on("SIGINT", interrupt);
  try {
    return await opened.left;
  } finally {
    process.off("SIGINT", interrupt);
    opened.close();
    if (opened.turns.busy) cli.output.say(`The turn goes on; \`thinkery peek ${agent}@${agency} -f\` follows it.`);
  }
}

class Chat {
  readonly left: Promise<number>;
  readonly turns = new Turns();
  private leave: (code: number) => void = () => {};
  private refuse: (error: unknown) => void = () => {};
  private readonly connection: Connection;
  private readonly target: AgentTarget;
  private readonly screen: Screen;
  private readonly output: Output;
  private readonly printer: Printer;
  private readonly transcript: Transcript;
  private readonly channel: Promise<Talk>;
  private entered = false;
  private lost = false;

  constructor(cli: Cli, connection: Connection, target: AgentTarget) {
    this.connection = connection;
    this.target = target;
    this.left = new Promise((resolve, reject) => {
      this.leave = resolve;
      this.refuse = reject;
    });
    this.screen = new Screen({
      input: process.stdin,
      output: process.stdout,
      prompt: `${target.agent}> `,
      onLine: (line) => void this.obey(line).catch((error: unknown) => this.complain(error)),
      onInterrupt: () => this.interrupt(),
      onEnd: () => this.leave(exitCodes.ok),
    });
    // Everything is part of the conversation here, so both streams are the screen.
    this.output = new Output({ stdout: this.screen, stderr: this.screen, env: cli.env, json: false });
    this.printer = new Printer(this.output);
    this.transcript = new Transcript(this.printer);
    this.printer.line(`You are talking to ${target.agent} in ${target.agency}. /help lists what you can type.`);
    this.channel = openTalk(connection, target, {
      onFrame: (frame) => this.hear(frame),
      onConnection: (state, reason) => this.notice(state, reason),
    });
    this.channel.catch(this.refuse);
  }

  /** Ctrl+C: the running turn first, then us. */
  interrupt(): void {
    if (!this.turns.mayCancel()) return this.leave(exitCodes.interrupted);
    this.turns.canceling();
    this.printer.line("Canceling the turn; Ctrl+C again leaves.");
    void this.channel.then((channel) => channel.send({ type: "cancel" }));
  }

  close(): void {
    this.screen.close();
    process.stdin.pause();
    void this.channel.then((channel) => channel.close());
  }

  private async obey(line: string): Promise<void> {
    const typed = readTyped(line);
    if (typed.kind === "say") return this.say(typed.text, typed.mode);
    if (typed.kind === "clear") return this.forget(typed.sure);
    if (typed.kind === "do") return this.act(typed.name);
  }

  private async say(text: string, mode: Mode): Promise<void> {
    const content = checkMessage(text);
    const id = randomUUID();
    this.transcript.know(id);
    this.turns.said(id);
    this.screen.setBusy(this.turns.busy);
    (await this.channel).send({ type: "chat", id, content, mode });
  }

  private async forget(sure: boolean): Promise<void> {
    if (!sure) return this.printer.line("The agent will have forgotten the conversation; type /clear yes to do it.");
    const { agency, agent } = this.target;
    await this.connection.client.call("clearMessages", { params: { agency, agent } });
    this.printer.line("Cleared.");
  }

  private async act(name: "help" | "cancel" | "title" | "model" | "stats" | "exit"): Promise<void> {
    const { agency, agent } = this.target;
    const { client } = this.connection;
    if (name === "help") return this.output.text(chatHelp);
    if (name === "exit") return this.leave(exitCodes.ok);
    if (name === "stats") return this.output.text(describeUsage(this.output, await usageOf(client, agency, agent)));
    if (name === "cancel") {
      if (!this.turns.busy) return this.printer.line("There is no turn to cancel.");
      return (await this.channel).send({ type: "cancel" });
    }
    const { state } = await client.call("getState", { params: { agency, agent } });
    if (name === "title") return this.printer.line(state.title ?? "It has none yet.");
    this.printer.line((await modelUsed(client, this.target)) ?? state.model ?? "The default; it has not been asked yet.");
  }

  private complain(error: unknown): void {
    if (isThinkeryError(error)) this.printer.line(error.message);
    else this.refuse(error);
  }

  private hear(frame: ChatFrame | AgentEvent): void {
    this.turns.take(frame);
    this.show(frame);
    this.screen.setBusy(this.turns.busy);
  }

  private show(frame: ChatFrame | AgentEvent): void {
    switch (frame.type) {
      case "history":
        if (!this.entered) this.transcript.skip(frame.messages.slice(0, -messagesShown));
        this.entered = true;
        this.transcript.catchUp(frame.messages);
        return this.printer.end();
      case "task-queued":
        this.transcript.heard(frame.messages);
        if (frame.position > 0) this.printer.line(`Queued; ${frame.position} before it.`);
        return;
      case "error":
        return this.printer.line(failureLine({ message: frame.error, advice: frame.advice }));
      case "task-canceled":
        return this.printer.line("The turn was canceled.");
      case "task-complete":
        return this.printer.end();
      default:
        this.transcript.take(frame);
    }
  }

  private notice(state: TalkState, reason: string | undefined): void {
    if (state === "refused") return this.refuse(fail("forbidden", reason ?? "The host refuses the connection."));
    if (state === "lost" && !this.lost) this.printer.line("The connection is lost; trying again. What you type is kept.");
    if (state === "open" && this.lost) this.printer.line("Connected again.");
    this.lost = state === "lost";
  }
}
