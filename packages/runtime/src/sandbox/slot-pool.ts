import { fail } from "@thinkery/sdk";
import type { SandboxLimits, SlotRenewal } from "@thinkery/sdk/internal";
import { DurableObject, RpcTarget } from "cloudflare:workers";
import { openHost, type Service } from "../host/host.ts";
import type { Lease } from "./lease.ts";
import { type LeaseTerms, Slots } from "./slots.ts";

interface SlotPoolEnv {
  HOST: Service;
  SLOT_COUNTS: SlotCounts;
  SANDBOX_LIMITS: SandboxLimits;
}

/** Slots for single runs of code, commands and apps, and slots for user agents. */
export type SlotKind = "runs" | "agents";

/** The slots for user agents come after those for runs. */
export type SlotCounts = Record<SlotKind, number>;

export type LeaseRequest = Omit<LeaseTerms, "signal" | "onPlace">;

/** A caller waiting for a slot, as seen by the pool. */
export interface SlotWaiter {
  onPlace(before: number): Promise<void>;
  /** Resolves when the caller no longer wants a slot. Rejects if the caller is gone. */
  untilLeft(): Promise<void>;
}

export interface LeasedSlot extends Partial<Disposable> {
  index: number;
  handle: LeaseHandle;
}

/** A process uses some 60 MB before it runs any code; as much again is no reason to replace it. */
const spareMb = 128;
/**
 * Isolates that stay loaded in a process. The smallest takes 1.8 MB of memory, and 2.7 MB of the process's limit, which
 * some 170 of them exhaust.
 */
const maxIsolatesPerProcess = 80;
/** After each such time that a caller waits for a process, one more busy one takes no new requests. */
const fairMs = 5_000;
/** How long a request waits at most for the other requests in its owner's process. */
const maxDrainMs = 60_000;
const memoryCheckMs = 10_000;

/**
 * Tracks which agent uses which slot. There is one object per kind of slots, in a Worker of their own, because objects of main may live in
 * different isolates. Its state is in memory only: workerd never evicts it (`preventEviction`), and if main dies, the
 * daemon replaces every process that was in use, so that a new pool starts from scratch.
 */
export class SlotPool extends DurableObject<SlotPoolEnv> {
  readonly #slots: Slots;
  /** The index of its first slot. */
  readonly #first: number;

  constructor(ctx: DurableObjectState, env: SlotPoolEnv) {
    super(ctx, env);
    const host = openHost(env.HOST);
    if (!host) throw new Error("The slot pool needs the daemon.");
    const { maxRunsPerSlot, memoryMb } = env.SANDBOX_LIMITS;
    const { runs, agents } = env.SLOT_COUNTS;
    const isForAgents = ctx.id.name === ("agents" satisfies SlotKind);
    const first = isForAgents ? runs : 0;
    this.#first = first;
    this.#slots = new Slots(
      isForAgents ? agents : runs,
      {
        renew: (index, generation, isGone) => host.renewSlot(first + index, generation, isGone),
        inspect: async () => (await host.status()).slots.slice(first),
      },
      {
        runs: maxRunsPerSlot,
        bytes: (memoryMb + spareMb) * 1024 * 1024,
        isolates: maxIsolatesPerProcess,
        restMs: 1000,
        memoryCheckMs,
        fairMs,
        drainMs: maxDrainMs,
      },
    );
  }

  /** Leases a slot to an agent, ready for its code. */
  async lease(request: LeaseRequest, waiter: SlotWaiter): Promise<LeasedSlot> {
    const leaving = new AbortController();
    const leave = () => leaving.abort(fail("unavailable", "The caller no longer waits for this sandbox."));
    let isWatched = false;
    const onPlace = (before: number) => {
      if (!isWatched) waiter.untilLeft().then(leave, leave);
      isWatched = true;
      waiter.onPlace(before).catch(leave);
    };
    const lease = await this.#slots.lease({ ...request, signal: leaving.signal, onPlace });
    return { index: this.#first + lease.index, handle: new LeaseHandle(lease) };
  }

  /** Terminates the agent's code and leaves nothing for another agent of the same name. */
  async forget(agent: string, prefix?: string): Promise<void> {
    await this.#slots.forget(agent, prefix);
  }

  async describe(agent: string): ReturnType<Slots["describe"]> {
    return this.#slots.describe(agent);
  }

  async status(): Promise<{ slots: ReturnType<Slots["status"]>; waiting: number }> {
    return { slots: this.#slots.status(), waiting: this.#slots.waitingCount };
  }
}

/**
 * A holder's handle to its lease. Disposing it without a release abandons the lease, which is how a holder's death is
 * noticed.
 */
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

/** Never receives requests, but workerd requires a handler. */
export default {
  fetch: () => new Response(null, { status: 404 }),
};
