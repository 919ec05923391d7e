import type { JsonValue, ReplyOperation } from "../agent/wire.ts";

/** What an agent did about one message. */
export class TestTurn {
  /** The messages it said, in the order in which they began. */
  readonly messages: string[] = [];
  /** What it showed while it worked. */
  readonly thinking: string[] = [];
  readonly actions: { tool: string; args: JsonValue }[] = [];
  /** Everything in order, such as `write`, `action`, `end`. */
  readonly operations: ReplyOperation[] = [];
  readonly #indexes = new Map<number | string, number>();
  readonly #ended = new Set<number | string>();

  /** All it said. */
  get text(): string {
    return this.messages.join("\n\n");
  }

  /** Replies that were never completed. */
  get openReplies(): number {
    return this.#indexes.size - [...this.#ended].filter((reply) => this.#indexes.has(reply)).length;
  }

  apply(operation: ReplyOperation): void {
    this.operations.push(operation);
    if (operation.type === "write") this.append(operation.reply, operation.text);
    if (operation.type === "thinking") this.thinking.push(operation.text);
    if (operation.type === "action") this.actions.push({ tool: operation.tool, args: operation.args });
    if (operation.type === "end") this.end(operation.reply);
  }

  append(reply: number | string, text: string): void {
    if (this.#ended.has(reply)) throw new Error("This reply has ended.");
    const index = this.#indexes.get(reply) ?? this.messages.push("") - 1;
    this.#indexes.set(reply, index);
    this.messages[index] += text;
  }

  end(reply: number | string): void {
    this.#ended.add(reply);
  }

  getText(reply: string): string | undefined {
    const index = this.#indexes.get(reply);
    return index === undefined ? undefined : this.messages[index];
  }
}
