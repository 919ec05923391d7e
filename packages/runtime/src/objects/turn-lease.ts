import { ownerUser } from "@thinkery/sdk";
import type { Env } from "./env.ts";
import type { Registration } from "./registration.ts";

interface TurnLeaseOptions {
  env: Env;
  agent: string;
  registration: Registration;
  heartbeatSeconds: number;
  /** Whether a turn runs. */
  isBusy(): boolean;
}

/** An agent's right to run turns, of which its user may have a limited number. The host's owner has no limit. */
export class TurnLease {
  readonly #options: TurnLeaseOptions;
  /** Messages that are being admitted. */
  #pending = 0;

  constructor(options: TurnLeaseOptions) {
    this.#options = options;
  }

  /**
   * Admits a message with the lease. Throws if the user already runs as many turns as allowed. If no turn starts, because
   * the message is refused or a duplicate, the lease is released before this returns.
   */
  async acquireFor<T>(admit: () => Promise<T>): Promise<T> {
    await this.#getLimits()?.leaseTurn(this.#options.agent, this.#getExpiry(), false);
    this.#pending++;
    try {
      return await admit();
    } finally {
      this.#pending--;
      if (this.#pending === 0 && !this.#options.isBusy()) await this.release();
    }
  }

  /** Keeps the lease of a turn that runs, or takes it for one that continues after a crash. */
  async renew(): Promise<void> {
    await this.#getLimits()?.leaseTurn(this.#options.agent, this.#getExpiry(), true);
  }

  async release(): Promise<void> {
    await this.#getLimits()?.releaseTurn(this.#options.agent);
  }

  #getLimits() {
    const { owner } = this.#options.registration.get().agent;
    return owner === ownerUser ? undefined : this.#options.env.User.getByName(owner).limits;
  }

  /** Heartbeats, which renew it, are at most twice their interval apart. */
  #getExpiry(): number {
    return Date.now() + (3 * this.#options.heartbeatSeconds + 10) * 1000;
  }
}
