import type { ReplyStream } from "./definition.ts";
import { toJson } from "./json.ts";
import type { Outbox } from "./outbox.ts";
import type { ReplyOperation } from "./wire.ts";

type OperationOf<T> = T extends ReplyOperation ? Omit<T, "reply"> : never;

/** A reply of one request. */
export class Reply implements ReplyStream {
  readonly #outbox: Outbox;
  readonly #number: number;
  readonly #signal: AbortSignal;
  #hasEnded = false;

  constructor(outbox: Outbox, signal: AbortSignal) {
    this.#outbox = outbox;
    this.#number = outbox.nextReply();
    this.#signal = signal;
  }

  write(text: string): Promise<void> {
    if (typeof text !== "string") throw new TypeError(`reply.write takes text, not ${describeType(text)}.`);
    // An empty write has no effect, and creates no message.
    return text === "" ? this.#check("write") : this.#add("write", { type: "write", text });
  }

  thinking(text: string): Promise<void> {
    return this.#add("thinking", { type: "thinking", text: String(text) });
  }

  action(tool: string, args: unknown = {}): Promise<void> {
    return this.#add("action", {
      type: "action",
      tool: String(tool),
      args: toJson(args, "The arguments of an action"),
    });
  }

  actionComplete(): Promise<void> {
    return this.#add("actionComplete", { type: "actionComplete" });
  }

  end(): Promise<void> {
    if (this.#hasEnded) throw new Error("reply.end was called twice.");
    const ended = this.#add("end", { type: "end" });
    this.#hasEnded = true;
    return ended;
  }

  /** Ends it unless the code did. */
  close(): void {
    if (!this.#hasEnded && !this.#signal.aborted) void this.end();
  }

  #add(method: string, operation: OperationOf<ReplyOperation>): Promise<void> {
    void this.#check(method);
    return this.#outbox.add({ reply: this.#number, ...operation });
  }

  #check(method: string): Promise<void> {
    if (this.#hasEnded)
      throw new Error(`reply.${method} was called after reply.end. Begin another message with ctx.reply().`);
    this.#signal.throwIfAborted();
    return Promise.resolve();
  }
}

const describeType = (value: unknown): string => (value === null ? "null" : `a value of type ${typeof value}`);
