import type { ToolCall } from "../model/model.ts";

/** The same call so many times in a row is a model that is stuck, unless it hears something new: then it waits for something. */
export const mostIdentical = 3;

/** What a turn called last, in how many steps in a row, and what it was answered. In memory only: a crash begins the count anew, and a turn's steps are bounded anyway. */
export class Repetition {
  #call = "";
  #id = "";
  #step = 0;
  #times = 0;
  #answer: string | undefined;

  /** Takes note of a call, and answers whether it is one too many. */
  isStuck(call: ToolCall, name: string, step: number): boolean {
    const made = `${name} ${call.malformed ?? JSON.stringify(call.input)}`;
    if (made !== this.#call) {
      this.#times = 1;
      this.#answer = undefined;
    } else if (step !== this.#step) this.#times += 1;
    this.#call = made;
    this.#id = call.id;
    this.#step = step;
    return this.#times >= mostIdentical;
  }

  /** What came of a call. */
  hear(callId: string, answer: string): void {
    if (callId !== this.#id) return;
    if (this.#answer !== undefined && this.#answer !== answer) this.#times = 1;
    this.#answer = answer;
  }
}
