import { isThinkeryError } from "@thinkery/sdk";

/** The next check of the sub-agents, which takes place even if memory is lost in the meantime. */
export class CheckSchedule {
  readonly #schedule: (seconds: number) => Promise<unknown>;
  /** Unknown after a wake. */
  #isArmed = false;

  constructor(schedule: (seconds: number) => Promise<unknown>) {
    this.#schedule = schedule;
  }

  async arm(seconds: number): Promise<void> {
    if (this.#isArmed) return;
    this.#isArmed = true;
    await this.#schedule(seconds).catch((error: unknown) => {
      this.#isArmed = false;
      if (isThinkeryError(error)) throw error;
      console.error("the check of sub-agents could not be scheduled", error);
    });
  }

  /** Called when the check takes place. */
  disarm(): void {
    this.#isArmed = false;
  }
}
