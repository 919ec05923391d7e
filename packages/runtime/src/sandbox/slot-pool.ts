import { fail } from "@thinkery/sdk";
import type { SandboxLimits, SlotRenewal } from "@thinkery/sdk/internal";
import { DurableObject, RpcTarget } from "cloudflare:workers";
import { openHost, type Service } from "../host/host.ts";
import type { Lease } from "./lease.ts";
import { type LeaseTerms, Slots } from "./slots.ts";

interface SlotPoolEnv {
  HOST: Service;
  SLOT_COUNT: number;
  SANDBOX_LIMITS: SandboxLimits;
}

export type LeaseRequest = Omit<LeaseTerms, "signal" | "onPlace">;

/** Whoever asks for a slot, as the pool sees it while they wait. */
export interface SlotWaiter {
  onPlace(before: number): Promise<void>;
  /** Resolves when they want no slot any more. Rejects if they are gone. */
  untilLeft(): Promise<void>;
}

export interface LeasedSlot extends Partial<Disposable> {
  index: number;
  handle: LeaseHandle;
}

/** A process has some 60 MB before any code, and as much again is no reason to replace it. */
const spareMb = 128;

/**
 * The one place that knows whose code is in which slot: a Worker of its own with a single object, because objects of
 * main may live in different isolates. It keeps everything in memory. workerd never evicts it (`preventEviction`), and
 * when main dies the daemon replaces every process that was in use, so a new pool has nothing to remember.
 */
export class SlotPool extends DurableObject<SlotPoolEnv> {
  readonly #slots: Slots;

  constructor(ctx: DurableObjectState, env: SlotPoolEnv) {
    super(ctx, env);
    const host = openHost(env.HOST);
    if (!host) throw new Error("A pool of slots needs the daemon.");
    const { maxRunsPerSlot: runs, memoryMb } = env.SANDBOX_LIMITS;
    this.#slots = new Slots(
      env.SLOT_COUNT,
      {
        renew: (index, generation, lost) => host.renewSlot(index, generation, lost),
        memory: async (index) => (await host.status()).slots[index]?.memoryBytes,
      },
      { runs, bytes: (memoryMb + spareMb) * 1024 * 1024, restMs: 1000 },
    );
  }

  /** A slot for an agent, ready for its code. */
  async lease(request: LeaseRequest, waiter: SlotWaiter): Promise<LeasedSlot> {
    const leaving = new AbortController();
    const leave = () => leaving.abort(fail("unavailable", "Nobody waits for this sandbox any more."));
    let isWatched = false;
    const onPlace = (before: number) => {
      if (!isWatched) waiter.untilLeft().then(leave, leave);
      isWatched = true;
      waiter.onPlace(before).catch(leave);
    };
    const lease = await this.#slots.lease({ ...request, signal: leaving.signal, onPlace });
    return { index: lease.index, handle: new LeaseHandle(lease) };
  }

  /** Ends what the agent's code does, and leaves nothing for another agent of its name. */
  async forget(agent: string): Promise<void> {
    await this.#slots.forget(agent);
  }

  async status(): Promise<{ slots: ReturnType<Slots["status"]>; waiting: number }> {
    return { slots: this.#slots.status(), waiting: this.#slots.waitingCount };
  }
}

/** What a holder has of its lease. Dropping it without a word abandons the lease: that is how a holder's death is seen. */
export class LeaseHandle extends RpcTarget {
  readonly #lease: Lease;

  constructor(lease: Lease) {
    super();
    this.#lease = lease;
  }

  async release(isSpent: boolean): Promise<void> {
    this.#lease.release(isSpent);
  }

  async lose(isGone: boolean): Promise<SlotRenewal["ended"]> {
    return this.#lease.lose(isGone);
  }

  [Symbol.dispose](): void {
    this.#lease.abandon();
  }
}

/** Nobody sends requests here; workerd wants a Worker to have a handler. */
export default {
  fetch: () => new Response(null, { status: 404 }),
};
