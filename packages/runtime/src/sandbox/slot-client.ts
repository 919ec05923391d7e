import type { SlotRenewal } from "@thinkery/sdk/internal";
import { RpcTarget } from "cloudflare:workers";
import type { SandboxService } from "./run.ts";
import type { SlotPool, SlotWaiter } from "./slot-pool.ts";
import type { LeaseTerms } from "./slots.ts";

/** A sandbox that is ours for a while. */
export interface SlotLease {
  service: SandboxService;
  /** Gives it back; a spent process is replaced before anybody gets it. */
  release(isSpent?: boolean): void;
  /** Gives it back because its process is gone, or has to go. Returns how that process ended. */
  lose(isGone: boolean): Promise<SlotRenewal["ended"]>;
}

/** The host's slots as an object of main sees them. */
export class SlotClient {
  readonly #namespace: { getByName(name: string): SlotPool };
  readonly #serviceAt: (index: number) => SandboxService;

  constructor(namespace: { getByName(name: string): SlotPool }, serviceAt: (index: number) => SandboxService) {
    this.#namespace = namespace;
    this.#serviceAt = serviceAt;
  }

  get #pool(): SlotPool {
    return this.#namespace.getByName("pool");
  }

  async lease({ signal, onPlace, ...request }: LeaseTerms): Promise<SlotLease> {
    signal.throwIfAborted();
    const { promise: left, resolve } = Promise.withResolvers<void>();
    const leave = () => resolve();
    signal.addEventListener("abort", leave);
    try {
      const leased = await this.#pool.lease(request, new Waiter(onPlace, left));
      const { index, handle } = leased;
      // Disposed only when the pool has answered: a handle that is dropped earlier is one of a holder that is gone.
      const dispose = () => leased[Symbol.dispose]?.();
      const lease: SlotLease = {
        service: this.#serviceAt(index),
        // Nobody waits for the answer: a release that does not arrive is seen by the handle.
        release: (isSpent = false) =>
          void handle
            .release(isSpent)
            .catch(() => {})
            .finally(dispose),
        lose: (isGone) => handle.lose(isGone).finally(dispose),
      };
      if (!signal.aborted) return lease;
      lease.release();
      throw signal.reason;
    } catch (error) {
      signal.throwIfAborted();
      throw error;
    } finally {
      signal.removeEventListener("abort", leave);
      leave();
    }
  }

  forget(agent: string): Promise<void> {
    return this.#pool.forget(agent);
  }

  status(): ReturnType<SlotPool["status"]> {
    return this.#pool.status();
  }
}

class Waiter extends RpcTarget implements SlotWaiter {
  readonly #onPlace: (before: number) => void;
  readonly #left: Promise<void>;

  constructor(onPlace: (before: number) => void, left: Promise<void>) {
    super();
    this.#onPlace = onPlace;
    this.#left = left;
  }

  async onPlace(before: number): Promise<void> {
    this.#onPlace(before);
  }

  async untilLeft(): Promise<void> {
    await this.#left;
  }
}
