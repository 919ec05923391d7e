import type { ContextStore } from "./context-store.ts";

interface LoopGuardOptions {
  store: ContextStore;
  /** Turns in a row that an agent may have in which it only writes to others. */
  getMaxTurns(): number;
  listAgents(): string[];
}

/**
 * Stops agents that write to each other without ever doing anything else. Each has a count of its turns in a row that
 * changed nothing; whatever anyone of the team gets done sets all of them back, and so does a person's message.
 */
export class LoopGuard {
  readonly #options: LoopGuardOptions;
  /** Whether all counts are known to be 0: most messages of people change none. */
  #isReset = false;

  constructor(options: LoopGuardOptions) {
    this.#options = options;
  }

  noteTurn(agent: string, hasProgress: boolean): void {
    if (hasProgress) return this.reset();
    this.#isReset = false;
    const { store } = this.#options;
    const { turnsWithoutProgress = 0 } = store.findAgent(agent) ?? {};
    store.putAgent(agent, { turnsWithoutProgress: turnsWithoutProgress + 1 });
  }

  /** Whether messages of agents no longer wake this one. */
  isTripped(agent: string): boolean {
    const { turnsWithoutProgress = 0 } = this.#options.store.findAgent(agent) ?? {};
    return turnsWithoutProgress >= this.#options.getMaxTurns();
  }

  reset(): void {
    if (this.#isReset) return;
    const { store, listAgents } = this.#options;
    for (const agent of listAgents()) {
      if (store.findAgent(agent)?.turnsWithoutProgress) store.putAgent(agent, { turnsWithoutProgress: 0 });
    }
    this.#isReset = true;
  }
}
