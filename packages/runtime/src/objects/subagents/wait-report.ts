import type { PersonWait } from "@thinkery/sdk";
import { RepeatableWork } from "./repeatable-work.ts";

interface WaitReportOptions {
  /** What the sub-agent waits for a person to give, if it does. */
  getWait(): PersonWait | undefined;
  /** Tells the parent. */
  send(waitingFor: PersonWait | undefined): Promise<void>;
  waitUntil(work: Promise<unknown>): void;
}

/** Tells the parent of a sub-agent that it waits for a person, or goes on. Call `update` until the parent knows. */
export class WaitReport {
  readonly #options: WaitReportOptions;
  /** What the parent knows; undefined after a wake. */
  #known: PersonWait | "none" | undefined;
  readonly #sending = new RepeatableWork(() => this.#send());

  constructor(options: WaitReportOptions) {
    this.#options = options;
  }

  get isKnown(): boolean {
    return this.#known === (this.#options.getWait() ?? "none");
  }

  /** Called when the sub-agent is created, and its parent knows that it works. */
  noteCreated(): void {
    this.#known = "none";
  }

  update(): void {
    if (!this.isKnown) this.#options.waitUntil(this.#sending.run());
  }

  halt(): void {
    this.#sending.halt();
  }

  async #send(): Promise<void> {
    const wait = this.#options.getWait();
    try {
      await this.#options.send(wait);
      this.#known = wait ?? "none";
    } catch (error) {
      console.error("the parent could not be told about a wait; it is tried again", error);
    }
  }
}
