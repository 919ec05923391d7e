import type { WireToolResult } from "@thinkery/sdk/agent-host";
import type { ToolCall } from "../../model/model.ts";
import type { AgentStore } from "../../store/agent-store.ts";
import type { Journal, JournalRequest } from "../../store/code/journal.ts";
import type { TurnContext } from "../driver.ts";
import type { CodeToolCall } from "./code-scope.ts";
import type { Replies } from "./replies.ts";

interface ToolBatchesOptions {
  turn: TurnContext;
  store: AgentStore;
  journal: Journal;
  request: JournalRequest;
  replies: Replies;
  /** Called when a call waits, for a person or a result: the turn is paused, and the code run again later. */
  onWaiting(): void;
}

interface Entry {
  calls: readonly CodeToolCall[];
  key: string;
  resolve(results: WireToolResult[]): void;
  reject(error: unknown): void;
}

const maxCallsPerRequest = 1000;

/**
 * The tool calls of one request of code, as ordinary calls of its turn: with approvals, and shown in the conversation.
 * Calls that the code makes at the same time are one batch, as those of one response of a model would be.
 */
export class ToolBatches {
  readonly #options: ToolBatchesOptions;
  #queue: Entry[] = [];
  #isRunning = false;
  #running: Promise<void> = Promise.resolve();
  #count = 0;

  constructor(options: ToolBatchesOptions) {
    this.#options = options;
  }

  execute(calls: readonly CodeToolCall[], key: string): Promise<WireToolResult[]> {
    const { journal, request } = this.#options;
    this.#count += calls.length;
    if (this.#count > maxCallsPerRequest)
      throw new Error(`A request can make at most ${maxCallsPerRequest} tool calls.`);
    // Made before the code was interrupted. Their results are in the conversation by now.
    const made = journal.findCall(request, key)?.output;
    if (made !== undefined) return this.#readResults(JSON.parse(made) as string[]);
    return new Promise((resolve, reject) => {
      this.#queue.push({ calls, key, resolve, reject });
      if (this.#isRunning) return;
      this.#isRunning = true;
      // Calls that are made at once arrive one after the other.
      this.#running = new Promise<void>((begin) => setTimeout(begin, 0)).then(() => this.#run());
    });
  }

  /** Makes none of the calls that wait for others. Resolves when those in progress have their results. */
  async close(): Promise<void> {
    for (const { reject } of this.#queue.splice(0)) reject(new Error("The request is over."));
    await this.#running;
  }

  async #run(): Promise<void> {
    const { turn } = this.#options;
    while (this.#queue.length > 0) {
      const batch = this.#queue;
      this.#queue = [];
      try {
        turn.signal.throwIfAborted();
        const requested = this.#request(batch);
        await turn.executeCalls(requested.flatMap(({ calls }) => calls));
        if (await turn.isWaiting()) return this.#interrupt(batch);
        for (const { entry, calls } of requested) entry.resolve(await this.#readResults(calls.map(({ id }) => id)));
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    this.#isRunning = false;
  }

  /** The code ends here. Run again, it gets the results. */
  #interrupt(batch: readonly Entry[]): void {
    this.#options.onWaiting();
    for (const { reject } of [...batch, ...this.#queue]) reject(new Error("The turn waits for the answer to a call."));
    this.#queue = [];
  }

  /** Adds the calls to the conversation and to the journal, in one write. */
  #request(batch: readonly Entry[]): { entry: Entry; calls: ToolCall[] }[] {
    const { replies, journal, request } = this.#options;
    const wanted = batch.flatMap(({ calls }) => calls.map(({ id = "", name, input }) => ({ id, name, input })));
    const all = replies.requestCalls(wanted, batch[0]?.key ?? "");
    let index = 0;
    return batch.map((entry) => {
      const calls = all.slice(index, (index += entry.calls.length));
      journal.putCall(request, entry.key, JSON.stringify(calls.map(({ id }) => id)));
      return { entry, calls };
    });
  }

  async #readResults(ids: readonly string[]): Promise<WireToolResult[]> {
    await this.#options.turn.flush();
    return Promise.all(ids.map((id) => this.#readResult(id)));
  }

  async #readResult(callId: string): Promise<WireToolResult> {
    const { turn, store } = this.#options;
    const message = store.messages.getResult(callId);
    if (!message?.toolResult) return { content: "The call has no result.", isError: true };
    const { content, toolResult } = message;
    const { failed = false, blob, mediaType } = toolResult;
    if (failed) return { content, isError: true };
    const isText = mediaType === undefined || mediaType === "text/plain" || mediaType === "application/json";
    const data = blob && isText ? await turn.conversation.readBlob(blob) : undefined;
    const text = data ? new TextDecoder().decode(data) : content;
    if (mediaType !== "application/json") return { content, ...(data ? { output: text } : {}), isError: false };
    return { content, output: JSON.parse(text) as NonNullable<WireToolResult["output"]>, isError: false };
  }
}
