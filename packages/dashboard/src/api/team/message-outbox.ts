import { type BodyIn, type Endpoints, isThinkeryError, type PostedMessage } from "@thinkery/sdk";
import { createId } from "@thinkery/sdk/internal";
import { createStore, type Store } from "../store.ts";

type NewMessage = BodyIn<Endpoints["postChannelMessage"]>;

/** What a person writes; where it goes belongs to the outbox. */
export type MessageInput = Omit<NonNullable<NewMessage>, "idempotencyKey" | "thread">;

/** A message that the host has not confirmed. */
export interface PendingMessage {
  /** Also its idempotency key: however often it is sent, it is posted once. */
  key: string;
  input: MessageInput;
  /** Why it was not posted; undefined while it is being sent. */
  error?: Error;
}

/** Whether a message was not sent because the host did not respond. It will be, by itself. */
export function isUnreachable(error: Error | undefined): boolean {
  return isThinkeryError(error) && error.code === "unavailable";
}

/** Posts messages one after the other, so that they arrive in the order in which they were written. */
export class MessageOutbox {
  readonly #post: (body: NonNullable<NewMessage>) => Promise<PostedMessage>;
  readonly #pending: Store<readonly PendingMessage[]> = createStore<readonly PendingMessage[]>([]);
  #last: Promise<unknown> = Promise.resolve();

  constructor(post: (body: NonNullable<NewMessage>) => Promise<PostedMessage>) {
    this.#post = post;
  }

  readonly get = (): readonly PendingMessage[] => this.#pending.get();

  readonly subscribe = (listener: () => void): (() => void) => this.#pending.subscribe(listener);

  /** Resolves to the posted message, or to undefined if it failed and stays here. */
  send(input: MessageInput, key: string = createId()): Promise<PostedMessage | undefined> {
    this.#put({ key, input });
    const sent = this.#last.then(() => this.#send(key, input));
    this.#last = sent;
    return sent;
  }

  /** Sends again what did not reach the host. What it rejected stays until the author decides. */
  resend(): void {
    for (const { key, input, error } of this.get()) if (isUnreachable(error)) void this.send(input, key);
  }

  discard(key: string): void {
    this.#pending.set(this.get().filter((one) => one.key !== key));
  }

  async #send(key: string, input: MessageInput): Promise<PostedMessage | undefined> {
    try {
      const posted = await this.#post({ ...input, idempotencyKey: key });
      this.discard(key);
      return posted;
    } catch (error) {
      this.#put({ key, input, error: error as Error });
      return undefined;
    }
  }

  #put(pending: PendingMessage): void {
    const others = this.get();
    const index = others.findIndex(({ key }) => key === pending.key);
    this.#pending.set(index < 0 ? [...others, pending] : others.with(index, pending));
  }
}
