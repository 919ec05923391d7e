import { type Approval, type ApprovalAnswer, isThinkeryError, type Question } from "@thinkery/sdk";
import type { Client } from "@thinkery/sdk/client";
import type { Cli } from "../cli.ts";
import { sanitizeIndented } from "../output.ts";
import { answerApproval } from "./answer-approval.ts";
import { parseAnswer } from "./answer-value.ts";
import { formatAsker } from "./explain.ts";
import { formatQuestion } from "./format.ts";
import { type OpenWaits, readWhole, toAgentTarget } from "./inbox.ts";
import { askAboutApproval } from "./prompt-approval.ts";
import type { PromptTerminal } from "./prompt-terminal.ts";

interface PrompterOptions {
  cli: Cli;
  client: Client;
  terminal: PromptTerminal;
  /** Called before the first prompt of a series and after the last one. */
  onActive(isActive: boolean): void;
  /** The person cannot or does not want to answer here. */
  onLeave(): void;
}

type Wait = { id: string; approval: Approval } | { id: string; question: Question };

/** Asks a person, one after the other, what agents wait for. What is answered elsewhere is no longer asked. */
export class Prompter {
  private readonly options: PrompterOptions;
  private open: readonly Wait[] = [];
  /** Answered, or left to be answered elsewhere. */
  private readonly done = new Set<string>();
  private current: { id: string; abort: AbortController } | undefined;
  private isActive = false;
  private isClosed = false;

  constructor(options: PrompterOptions) {
    this.options = options;
  }

  /** Sets everything that is open now. */
  update({ approvals, questions }: OpenWaits): void {
    this.open = [
      ...approvals.map((approval) => ({ id: approval.id, approval })),
      ...questions.map((question) => ({ id: question.id, question })),
    ];
    const { current } = this;
    if (current && !this.open.some(({ id }) => id === current.id)) current.abort.abort();
    if (!this.isActive && !this.isClosed) void this.run();
  }

  close(): void {
    this.isClosed = true;
    this.current?.abort.abort();
  }

  private async run(): Promise<void> {
    const { onActive, onLeave, terminal } = this.options;
    this.isActive = true;
    let isAnnounced = false;
    let isLeaving = false;
    for (let wait = this.findNext(); wait && !isLeaving; wait = this.findNext()) {
      if (!isAnnounced) onActive(true);
      isAnnounced = true;
      const abort = new AbortController();
      this.current = { id: wait.id, abort };
      const result = await this.ask(wait, abort.signal);
      this.current = undefined;
      this.done.add(wait.id);
      if (result === "left" && !abort.signal.aborted) isLeaving = true;
      if (abort.signal.aborted && !this.isClosed)
        terminal.write("It no longer waits: it was answered elsewhere, or its turn is over.");
    }
    this.isActive = false;
    if (isAnnounced && !isLeaving) onActive(false);
    if (isLeaving && !this.isClosed) onLeave();
  }

  private findNext(): Wait | undefined {
    return this.isClosed ? undefined : this.open.find(({ id }) => !this.done.has(id));
  }

  private async ask(wait: Wait, signal: AbortSignal): Promise<"answered" | "left"> {
    try {
      return await ("approval" in wait
        ? this.askApproval(wait.approval, signal)
        : this.askQuestion(wait.question, signal));
    } catch (error) {
      this.options.terminal.write(formatError(error));
      // Somebody else was faster, or it is over.
      return isThinkeryError(error) && (error.code === "conflict" || error.code === "not_found") ? "answered" : "left";
    }
  }

  private async askApproval(given: Approval, signal: AbortSignal): Promise<"answered" | "left"> {
    const { cli, client, terminal } = this.options;
    let approval = await readWhole(client, given);
    while (approval.status === "pending") {
      const answer: Partial<ApprovalAnswer> | undefined = await askAboutApproval(terminal, cli, approval, signal);
      if (!answer || signal.aborted) return "left";
      approval = await answerApproval(client, approval, answer);
    }
    return "answered";
  }

  private async askQuestion(question: Question, signal: AbortSignal): Promise<"answered" | "left"> {
    const { cli, client, terminal } = this.options;
    const { agency, agent } = toAgentTarget(question.agent, client.user);
    terminal.write(`${formatAsker(cli, question.agent)} asks:`);
    for (const line of formatQuestion(question)) terminal.write(`  ${line}`);
    for (;;) {
      const text = await terminal.ask("Answer: ", signal);
      if (text === undefined) return "left";
      if (text.trim() === "") continue;
      try {
        const body = { continuationId: question.id, value: parseAnswer(text, question.schema) };
        await client.call("answerQuestion", { params: { agency, agent }, body });
        return "answered";
      } catch (error) {
        if (!isThinkeryError(error) || error.code !== "bad_request") throw error;
        terminal.write(formatError(error));
      }
    }
  }
}

const formatError = (error: unknown) => sanitizeIndented(error instanceof Error ? error.message : String(error));
