import { randomUUID } from "node:crypto";
import { type AgentEvent, type AgentTarget, type ChatFrame, fail, isThinkeryError, type Mode } from "@thinkery/sdk";
import type { AgentSocket, AgentSocketState } from "@thinkery/sdk/client";
import { findUsedModel } from "../agents.ts";
import type { Cli } from "../cli.ts";
import { describeUsage, readUsage } from "../commands/stats.ts";
import type { Connection } from "../connect.ts";
import { formatFailure } from "../conversation/lines.ts";
import { Printer } from "../conversation/printer.ts";
import { openSocket } from "../conversation/socket.ts";
import { Transcript } from "../conversation/transcript.ts";
import { exitCodes } from "../exit.ts";
import { checkMessage } from "../message.ts";
import { Output } from "../output.ts";
import { editText } from "../waits/editor.ts";
import { InboxWatch } from "../waits/inbox-watch.ts";
import type { PromptTerminal } from "../waits/prompt-terminal.ts";
import { Prompter } from "../waits/prompter.ts";
import { chatHelp, parseChatInput } from "./commands.ts";
import { Screen } from "./screen.ts";
import { TurnTracker } from "./turn-tracker.ts";

const maxShownMessages = 6;

/** Runs an interactive chat until the user quits; returns the exit code. */
export async function runChat(cli: Cli, connection: Connection, target: AgentTarget): Promise<number> {
  const { agency, agent } = target;
  const chat = new Chat(cli, connection, target);
  const interrupt = () => chat.interrupt();
  cli.takeOverInterrupts();
  process.on("SIGINT", interrupt);
  try {
    return await chat.exitCode;
  } finally {
    process.off("SIGINT", interrupt);
    chat.close();
    if (chat.turns.isBusy)
      cli.output.writeMessage(
        `The turn continues in the background. Follow it with \`thinkery peek ${agent}@${agency} -f\`.`,
      );
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
  private readonly channel: Promise<AgentSocket>;
  private readonly prompter: Prompter;
  private readonly inbox: InboxWatch;
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
    // Both streams go to the screen: everything is part of the conversation.
    this.output = new Output({ stdout: this.screen, stderr: this.screen, env: cli.env, json: false });
    this.printer = new Printer(this.output);
    this.transcript = new Transcript(this.printer);
    this.printer.writeLine(`Chatting with ${target.agent} in ${target.agency}. Type /help for commands.`);
    this.channel = openSocket(connection, target, {
      onFrame: (frame) => this.handleFrame(frame),
      onConnection: (state, reason) => this.handleConnection(state, reason),
    });
    this.channel.catch(this.reject);
    this.prompter = new Prompter({
      cli,
      client: connection.client,
      terminal: this.createPromptTerminal(cli),
      onActive: () => {},
      onLeave: () => this.printer.writeLine("It still waits. Answer it elsewhere; see `thinkery approval ls`."),
    });
    // Sub-agents may ask at any time, even between the turns of this agent.
    this.inbox = new InboxWatch({
      connection,
      target,
      onWaits: (waits) => this.prompter.update(waits),
      onError: (error) => this.printer.writeLine(error instanceof Error ? error.message : String(error)),
    });
  }

  private createPromptTerminal(cli: Cli): PromptTerminal {
    return {
      ask: (prompt, signal) => this.screen.ask(prompt, signal),
      write: (line) => this.output.writeMessage(line),
      edit: (text, fileName) => this.screen.lend(() => editText(cli.env, text, fileName)),
      paint: (line) => this.output.colorStderrDiffLine(line),
    };
  }

  /** Handles Ctrl+C: cancels the running turn first, then quits. */
  interrupt(): void {
    if (!this.turns.canCancel()) return this.leave(exitCodes.interrupted);
    this.turns.markCanceling();
    this.printer.writeLine("Canceling the turn… Press Ctrl+C again to quit.");
    void this.channel.then((channel) => channel.send({ type: "cancel" }));
  }

  close(): void {
    this.inbox.close();
    this.prompter.close();
    this.screen.close();
    process.stdin.pause();
    void this.channel.then((channel) => channel.close());
  }

  private async handleLine(line: string): Promise<void> {
    const input = parseChatInput(line);
    if (input.kind === "message") return this.sendMessage(input.text, input.mode);
    if (input.kind === "clear") return this.clearMessages(input.isConfirmed);
    if (input.kind === "command") return this.runCommand(input.name);
  }

  private async sendMessage(text: string, mode: Mode): Promise<void> {
    const content = checkMessage(text);
    const id = randomUUID();
    this.transcript.markShown(id);
    this.turns.addMessage(id);
    this.screen.setBusy(this.turns.isBusy);
    (await this.channel).send({ type: "chat", id, content, mode });
  }

  private async clearMessages(isConfirmed: boolean): Promise<void> {
    if (!isConfirmed) return this.printer.writeLine("This deletes the conversation. Type /clear yes to confirm.");
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
    if (name === "title") return this.printer.writeLine(state.title ?? "No title yet.");
    this.printer.writeLine(
      (await findUsedModel(client, this.target)) ?? state.model ?? "The default model; no response yet.",
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
        if (frame.position > 0)
          this.printer.writeLine(`Queued behind ${frame.position} other turn${frame.position === 1 ? "" : "s"}.`);
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

  private handleConnection(state: AgentSocketState, reason: string | undefined): void {
    if (state === "refused") return this.reject(fail("forbidden", reason ?? "The host refused the connection."));
    if (state === "lost" && !this.isConnectionLost)
      this.printer.writeLine("Connection lost; reconnecting… Your input is kept.");
    if (state === "open" && this.isConnectionLost) this.printer.writeLine("Reconnected.");
    this.isConnectionLost = state === "lost";
  }
}
