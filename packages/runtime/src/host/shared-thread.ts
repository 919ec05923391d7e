import { fail } from "@thinkery/sdk";

const pollIntervalMs = 5;
/** Those far back in the queue look less often, or a thousand of them would be work of their own. */
const maxPollIntervalMs = 250;
const maxWaitMs = 30_000;
/** More of one owner are refused. */
const maxWaitingPerOwner = 500;
/** What would release the thread is lost if its object is aborted; so is what would leave the queue. */
const maxSilenceMs = 1000;

interface Waiting {
  owner: string;
  seenAt: number;
}

/**
 * Locally, all objects of main share one thread. Slices of work run one at a time, with a pause after each, so that
 * other requests are served in between. On Cloudflare objects have their own threads.
 */
export class SharedThread {
  #isClaimed = false;
  #claimedAt = 0;
  #lastPause = 0;
  #waiting: Waiting[] = [];
  /** When each owner last had the thread, as a count. */
  readonly #servedAt = new Map<string, number>();
  #served = 0;

  /**
   * Waits until nobody works or pauses, and no owner waits who had the thread less recently. Then it is the caller's
   * until it releases it. Without an owner, it is for the host.
   */
  async claim(owner = ""): Promise<void> {
    if (owner !== "" && this.#waiting.filter((other) => other.owner === owner).length >= maxWaitingPerOwner)
      throw fail("rate_limited", "Too many of your large requests are waiting already. Try again later.", {
        retryAfter: 5,
      });
    const own: Waiting = { owner, seenAt: Date.now() };
    this.#waiting.push(own);
    try {
      const startedAt = own.seenAt;
      // Polls: an object cannot wait for what happens in another one's request.
      for (;;) {
        own.seenAt = Date.now();
        const { ownersAhead, position } = this.#findPlace(own);
        // Within an owner whoever looks first goes first: to wait for one that sleeps would leave the thread idle.
        if (ownersAhead === 0 && !this.#isBusy()) break;
        if (own.seenAt - startedAt >= maxWaitMs)
          throw fail("unavailable", "The host is busy with other large requests. Try again later.");
        const interval = Math.min(maxPollIntervalMs, pollIntervalMs * (position + 1));
        await new Promise((resolve) => setTimeout(resolve, interval));
      }
    } finally {
      this.#waiting = this.#waiting.filter((other) => other !== own);
    }
    this.#isClaimed = true;
    this.#claimedAt = Date.now();
    this.#servedAt.delete(owner);
    this.#servedAt.set(owner, ++this.#served);
    this.#forgetOwners();
  }

  /** Releases the thread after a pause, during which nobody else starts. */
  pause(ms: number): void {
    const id = ++this.#lastPause;
    this.#isClaimed = true;
    this.#claimedAt = Date.now();
    // Set after the work: a timer from before would be due at once.
    setTimeout(() => (this.#isClaimed &&= id !== this.#lastPause), Math.min(ms, maxSilenceMs / 2));
  }

  release(): void {
    this.#isClaimed = false;
  }

  #isBusy(): boolean {
    return this.#isClaimed && Date.now() - this.#claimedAt < maxSilenceMs;
  }

  /** Returns how many owners had the thread less recently, and about how many turns pass before this one's. */
  #findPlace(own: Waiting): { ownersAhead: number; position: number } {
    const now = Date.now();
    this.#waiting = this.#waiting.filter((other) => other === own || now - other.seenAt < maxSilenceMs);
    // It may have been silent itself while something took long.
    if (!this.#waiting.includes(own)) this.#waiting.push(own);
    const owners = new Set(this.#waiting.map(({ owner }) => owner));
    const served = this.#getServed(own.owner);
    const ownersAhead = [...owners].filter((owner) => this.#getServed(owner) < served).length;
    const earlier = this.#waiting.filter(({ owner }) => owner === own.owner).indexOf(own);
    return { ownersAhead, position: earlier * owners.size + ownersAhead };
  }

  #getServed(owner: string): number {
    return this.#servedAt.get(owner) ?? 0;
  }

  /** Keeps those who had the thread most recently: the others are alike. */
  #forgetOwners(): void {
    const [oldest] = this.#servedAt.keys();
    if (this.#servedAt.size > 1000 && oldest !== undefined) this.#servedAt.delete(oldest);
  }
}
