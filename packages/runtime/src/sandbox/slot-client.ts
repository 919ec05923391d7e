import type { SlotRenewal } from "@thinkery/sdk/internal";
import { RpcTarget } from "cloudflare:workers";
import type { SandboxService } from "./run.ts";
import type { SlotKind, SlotPool, SlotWaiter } from "./slot-pool.ts";
import type { LeaseTerms } from "./slots.ts";

/** A sandbox that is leased to the caller. */
export interface SlotLease {
  service: SandboxService;
  /** Returns the slot. A spent process is replaced before its next use. */
  release(isSpent?: boolean): void;
  /** Returns the slot because its process is gone or must be replaced. Resolves with how the process ended. */
  lose(isGone: boolean): Promise<SlotRenewal["ended"]>;
}

/** Client of the slot pool, for objects of main. */
export class SlotClient {
  readonly #namespace: { getByName(name: string): SlotPool };
  readonly #kind: SlotKind;
  readonly #getService: (index: number) => SandboxService;

  constructor(
    namespace: { getByName(name: string): SlotPool },
    kind: SlotKind,
    getService: (index: number) => SandboxService,
  ) {
    this.#namespace = namespace;
    this.#kind = kind;
    this.#getService = getService;
  }

  get #pool(): SlotPool {
    return this.#namespace.getByName(this.#kind);
  }

  async lease({ signal, onPlace, ...request }: LeaseTerms): Promise<SlotLease> {
    signal.throwIfAborted();
    const { promise: left, resolve } = Promise.withResolvers<void>();
    const leave = () => resolve();
    signal.addEventListener("abort", leave);
    try {
      const leased = await this.#pool.lease(request, new Waiter(onPlace, left));
      const { index, handle } = leased;
      // Disposed only once the pool has responded: it takes a handle that is disposed earlier for one of a dead holder.
      const dispose = () => leased[Symbol.dispose]?.();
      const lease: SlotLease = {
        service: this.#getService(index),
        // Not awaited: if the release does not arrive, disposing the handle abandons the lease.
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

  forget(agent: string, prefix?: string): Promise<void> {
    return this.#pool.forget(agent, prefix);
  }

  describe(agent: string): ReturnType<SlotPool["describe"]> {
    return this.#pool.describe(agent);
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
