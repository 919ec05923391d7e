import { randomUUID } from "node:crypto";
import { type AgentEvent, type AgentTarget, type ChatFrame, fail, isThinkeryError, type Mode } from "@thinkery/sdk";
import type { Talk, TalkState } from "@thinkery/sdk/client";
import { findUsedModel } from "../agents.ts";
import type { Cli } from "../cli.ts";
import { describeUsage, readUsage } from "../commands/stats.ts";
import type { Connection } from "../connect.ts";
import { exitCodes } from "../exit.ts";
import { checkMessage } from "../message.ts";
import { Output } from "../output.ts";
import { formatFailure } from "../talk/lines.ts";
import { Printer } from "../talk/printer.ts";
import { openTalk } from "../talk/socket.ts";
import { Transcript } from "../talk/transcript.ts";
import { chatHelp, parseChatInput } from "./commands.ts";
import { Screen } from "./screen.ts";
import { TurnTracker } from "./turn-tracker.ts";

const maxShownMessages = 6;

/** A person and an agent at a terminal, until the person leaves. Answers what to exit with. */
export async function runChat(cli: Cli, connection: Connection, target: AgentTarget): Promise<number> {
  const { agency, agent } = target;
  const opened = new Chat(cli, connection, target);
  const interrupt = () => opened.interrupt();
  cli.takeOverInterrupts();
  process.on("SIGINT", interrupt);
  try {
    return await opened.exitCode;
  } finally {
    process.off("SIGINT", interrupt);
    opened.close();
    if (opened.turns.isBusy)
      cli.output.writeMessage(`The turn goes on; \`thinkery peek ${agent}@${agency} -f\` follows it.`);
  }
}

class Chat {
  readonly exitCode: Promise<number>;
  readonly turns = new TurnTracker();
  private leave: (code: number) => void = () => {};
  private reject: (error: unknown) => void = () => {};
  private readonly connection: Connection;
  private readonly target: AgentTarget;
  private readonly screen: Screen;
  private readonly output: Output;
  private readonly printer: Printer;
  private readonly transcript: Transcript;
  private readonly channel: Promise<Talk>;
  private hasHistory = false;
  private isConnectionLost = false;

  constructor(cli: Cli, connection: Connection, target: AgentTarget) {
    this.connection = connection;
    this.target = target;
    this.exitCode = new Promise((resolve, reject) => {
      this.leave = resolve;
      this.reject = reject;
    });
    this.screen = new Screen({
      input: process.stdin,
      output: process.stdout,
      prompt: `${target.agent}> `,
      onLine: (line) => void this.handleLine(line).catch((error: unknown) => this.reportError(error)),
      onInterrupt: () => this.interrupt(),
      onEnd: () => this.leave(exitCodes.ok),
    });
    // Everything is part of the conversation here, so both streams are the screen.
    this.output = new Output({ stdout: this.screen, stderr: this.screen, env: cli.env, json: false });
    this.printer = new Printer(this.output);
    this.transcript = new Transcript(this.printer);
    this.printer.writeLine(`You are talking to ${target.agent} in ${target.agency}. /help lists what you can type.`);
    this.channel = openTalk(connection, target, {
      onFrame: (frame) => this.handleFrame(frame),
      onConnection: (state, reason) => this.handleConnection(state, reason),
    });
    this.channel.catch(this.reject);
  }

  /** Ctrl+C: the running turn first, then us. */
  interrupt(): void {
    if (!this.turns.canCancel()) return this.leave(exitCodes.interrupted);
    this.turns.markCanceling();
    this.printer.writeLine("Canceling the turn; Ctrl+C again leaves.");
    void this.channel.then((channel) => channel.send({ type: "cancel" }));
  }

  close(): void {
    this.screen.close();
    process.stdin.pause();
    void this.channel.then((channel) => channel.close());
  }

  private async handleLine(line: string): Promise<void> {
    const typed = parseChatInput(line);
    if (typed.kind === "say") return this.sendMessage(typed.text, typed.mode);
    if (typed.kind === "clear") return this.clearMessages(typed.sure);
    if (typed.kind === "do") return this.runCommand(typed.name);
  }

  private async sendMessage(text: string, mode: Mode): Promise<void> {
    const content = checkMessage(text);
    const id = randomUUID();
    this.transcript.markShown(id);
    this.turns.addMessage(id);
    this.screen.setBusy(this.turns.isBusy);
    (await this.channel).send({ type: "chat", id, content, mode });
  }

  private async clearMessages(sure: boolean): Promise<void> {
    if (!sure)
      return this.printer.writeLine("The agent will have forgotten the conversation; type /clear yes to do it.");
    const { agency, agent } = this.target;
    await this.connection.client.call("clearMessages", { params: { agency, agent } });
    this.printer.writeLine("Cleared.");
  }

  private async runCommand(name: "help" | "cancel" | "title" | "model" | "stats" | "exit"): Promise<void> {
    const { agency, agent } = this.target;
    const { client } = this.connection;
    if (name === "help") return this.output.writeText(chatHelp);
    if (name === "exit") return this.leave(exitCodes.ok);
    if (name === "stats")
      return this.output.writeText(describeUsage(this.output, await readUsage(client, agency, agent)));
    if (name === "cancel") {
      if (!this.turns.isBusy) return this.printer.writeLine("There is no turn to cancel.");
      return (await this.channel).send({ type: "cancel" });
    }
    const { state } = await client.call("getState", { params: { agency, agent } });
    if (name === "title") return this.printer.writeLine(state.title ?? "It has none yet.");
    this.printer.writeLine(
      (await findUsedModel(client, this.target)) ?? state.model ?? "The default; it has not been asked yet.",
    );
  }

  private reportError(error: unknown): void {
    if (isThinkeryError(error)) this.printer.writeLine(error.message);
    else this.reject(error);
  }

  private handleFrame(frame: ChatFrame | AgentEvent): void {
    this.turns.update(frame);
    this.showFrame(frame);
    this.screen.setBusy(this.turns.isBusy);
  }

  private showFrame(frame: ChatFrame | AgentEvent): void {
    switch (frame.type) {
      case "history":
        if (!this.hasHistory) this.transcript.skip(frame.messages.slice(0, -maxShownMessages));
        this.hasHistory = true;
        this.transcript.catchUp(frame.messages);
        return this.printer.end();
      case "task-queued":
        this.transcript.addMessages(frame.messages);
        if (frame.position > 0) this.printer.writeLine(`Queued; ${frame.position} before it.`);
        return;
      case "error":
        return this.printer.writeLine(formatFailure({ message: frame.error, advice: frame.advice }));
      case "task-canceled":
        return this.printer.writeLine("The turn was canceled.");
      case "task-complete":
        return this.printer.end();
      default:
        this.transcript.handleFrame(frame);
    }
  }

  private handleConnection(state: TalkState, reason: string | undefined): void {
    if (state === "refused") return this.reject(fail("forbidden", reason ?? "The host refuses the connection."));
    if (state === "lost" && !this.isConnectionLost)
      this.printer.writeLine("The connection is lost; trying again. What you type is kept.");
    if (state === "open" && this.isConnectionLost) this.printer.writeLine("Connected again.");
    this.isConnectionLost = state === "lost";
  }
}
