import type { Lease } from "./lease.ts";

/** Whose code may share a process. */
export interface SlotTenant {
  agent: string;
  /** Separates code of the agent from the rest of its code, in a process of its own. */
  partition?: string;
}

/** A place for one process at a time, and what is known of its current process. */
export class Slot {
  readonly index: number;
  /** The last of its processes that was known to be ready; -1 before the first. */
  generation = -1;
  /** Whose code the process has run, if any. */
  tenant: SlotTenant | undefined;
  runs = 0;
  /** The isolates that stay loaded in the process. */
  readonly isolates = new Set<string>();
  /** Whether it has served shared leases, whose code may keep state in memory. */
  serves = false;
  /** Current holders: one run, or concurrent requests of one tenant. */
  readonly leases = new Set<Lease>();
  /** When the first of the current holders came. */
  busySince = 0;
  /** When it was last returned. */
  idleSince = 0;
  /** Whether its process must be replaced before the next lease. */
  isSpent = false;
  /** Whether the process takes no new leases, and is replaced once the current ones are returned. */
  isRetired = false;
  /** Set while its process is being replaced or checked. Rejects if there is no process. */
  renewing: Promise<unknown> | undefined;
  memoryCheckedAt = 0;

  constructor(index: number) {
    this.index = index;
  }

  get isIdle(): boolean {
    return this.leases.size === 0;
  }

  /** Whether all its holders accept others beside them. */
  get isShared(): boolean {
    return !this.isIdle && [...this.leases].every(({ shared }) => shared);
  }

  /** Whether its current process, or the one that is about to replace it, can be used as it is. */
  get isUsable(): boolean {
    return !this.isSpent || this.renewing !== undefined;
  }

  isOf({ agent, partition }: SlotTenant): boolean {
    return this.tenant?.agent === agent && this.tenant.partition === partition;
  }

  add(lease: Lease): void {
    if (this.isIdle) this.busySince = Date.now();
    this.leases.add(lease);
    this.keepIsolate(lease);
  }

  keepIsolate({ isolate }: Lease): void {
    if (isolate !== undefined) this.isolates.add(isolate);
  }

  /** Has its process replaced before the next lease. */
  spend(): void {
    this.isSpent = true;
    this.isRetired = false;
  }

  /** Called when a newer process is ready. */
  adopt(generation: number): void {
    // Responses of the daemon may overtake each other.
    if (generation <= this.generation) return;
    Object.assign(this, { generation, isSpent: false, isRetired: false, runs: 0, serves: false });
    this.isolates.clear();
  }
}

export function findLongestIdle(slots: readonly Slot[]): Slot | undefined {
  return slots.reduce<Slot | undefined>(
    (first, slot) => (first && first.idleSince <= slot.idleSince ? first : slot),
    undefined,
  );
}
