import { type Budget, budgetKinds, fail, type UserLimits, type UserLimitsUpdate } from "@thinkery/sdk";
import { RequestRates } from "./request-rates.ts";

const megabyte = 1024 * 1024;

/** What the host's owner allows a user, and what of it is in use. */
export class Limits {
  readonly #sql: SqlStorage;
  /** Agents that are being created. */
  #pendingAgents = 0;
  readonly #rates = new RequestRates();

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /** Whether the user was added to the host: everyone but its owner has limits then, if only empty ones. */
  get areSet(): boolean {
    return this.#sql.exec("SELECT 1 FROM limits").toArray().length > 0;
  }

  get(): UserLimits {
    const [row] = this.#sql.exec<{ data: string }>("SELECT data FROM limits").toArray();
    return row ? (JSON.parse(row.data) as UserLimits) : {};
  }

  set(limits: UserLimits): void {
    this.#sql.exec(
      "INSERT INTO limits (only, data) VALUES (1, ?) ON CONFLICT (only) DO UPDATE SET data = excluded.data",
      JSON.stringify(limits),
    );
  }

  /** Returns how many requests a credential may send before it asks again. */
  grantRequests(hash: string): number {
    return this.#rates.grant(hash, this.get().requestsPerMinute);
  }

  /** Counts a request to something of the user's that needs no credential. */
  takeRequest(key: string): void {
    this.#rates.take(key, this.get().requestsPerMinute);
  }

  /** Returns the budget that then applies: the user's own, as far as it is not above the new limit. */
  update(changes: UserLimitsUpdate, current: Budget | undefined): Budget | undefined {
    const before = this.get();
    const entries = Object.entries({ ...before, ...changes }).filter(
      ([, value]) => value !== null && value !== undefined,
    );
    this.set(Object.fromEntries(entries) as UserLimits);
    const { budget: limit } = this.get();
    const per = limit?.per ?? current?.per ?? "ever";
    const own = budgetKinds.flatMap((kind) => {
      const value = current?.[kind];
      const isOwn = value !== undefined && value !== before.budget?.[kind] && current?.per === per;
      return isOwn && value <= (limit?.[kind] ?? Infinity) ? [[kind, value]] : [];
    });
    return this.resolveBudget(own.length > 0 ? { ...Object.fromEntries(own), per } : undefined);
  }

  reserveAgent(existing: number): void {
    const { agents } = this.get();
    if (agents !== undefined && existing + this.#pendingAgents >= agents)
      throw fail("conflict", `You can have at most ${agents} agents. Delete one, or ask the host's owner for more.`);
    this.#pendingAgents++;
  }

  releaseAgent(): void {
    this.#pendingAgents = Math.max(0, this.#pendingAgents - 1);
  }

  /**
   * Takes or renews the right to run turns. An agent that does not renew it loses it, so that a crash costs nothing.
   */
  leaseTurn(agent: string, until: number, isRunning: boolean, now = Date.now()): void {
    const { concurrentTurns, diskMb } = this.get();
    if (diskMb !== undefined && !isRunning && this.countDiskBytes() > diskMb * megabyte)
      throw fail(
        "too_large",
        `You use more than ${diskMb} MB of disk space. Delete agents, agencies or branches you no longer need, clear conversations, or ask the host's owner for more.`,
      );
    if (concurrentTurns === undefined) return;
    this.#sql.exec("DELETE FROM turn_leases WHERE until < ?", now);
    const { others } = this.#sql
      .exec<{ others: number }>("SELECT count(*) AS others FROM turn_leases WHERE agent <> ?", agent)
      .one();
    if (!isRunning && others >= concurrentTurns) {
      const turns = concurrentTurns === 1 ? "1 turn" : `${concurrentTurns} turns`;
      throw fail("conflict", `You can run at most ${turns} at the same time. Wait for one to end, or cancel it.`);
    }
    this.#sql.exec(
      "INSERT INTO turn_leases (agent, until) VALUES (?, ?) ON CONFLICT (agent) DO UPDATE SET until = excluded.until",
      agent,
      until,
    );
  }

  releaseTurn(agent: string): void {
    this.#sql.exec("DELETE FROM turn_leases WHERE agent = ?", agent);
  }

  /** Records what an agent or an agency occupies, and what it is about to store if there is room for it. */
  reportDisk(agent: string, bytes: number, newBytes: number): { freeBytes: number | undefined; hasRoom: boolean } {
    this.#setDiskUsage(agent, bytes);
    const freeBytes = this.#getFreeBytes();
    if (newBytes === 0) return { freeBytes, hasRoom: true };
    if (freeBytes !== undefined && newBytes > freeBytes) return { freeBytes, hasRoom: false };
    this.#setDiskUsage(agent, bytes + newBytes);
    return { freeBytes: freeBytes && freeBytes - newBytes, hasRoom: true };
  }

  /** Forgets an agent and its sub-agents. */
  forgetDiskUsage(agent: string): void {
    this.#sql.exec(
      "DELETE FROM disk_usage WHERE agent = ? OR agent >= ? AND agent < ?",
      agent,
      `${agent}/`,
      `${agent}0`,
    );
  }

  /** Forgets an agency and all its agents. “~” separates the two in their names. */
  forgetAgencyDiskUsage(agency: string): void {
    this.#sql.exec(
      "DELETE FROM disk_usage WHERE agent = ? OR agent >= ? AND agent < ?",
      agency,
      `${agency}~`,
      `${agency}\x7f`,
    );
  }

  countDiskBytes(): number {
    return this.#sql.exec<{ bytes: number }>("SELECT coalesce(sum(bytes), 0) AS bytes FROM disk_usage").one().bytes;
  }

  /** Returns the budget that applies if the user chooses this one. Throws if it allows more than the limit. */
  resolveBudget(budget: Budget | undefined): Budget | undefined {
    const { budget: limit } = this.get();
    if (!limit || !budget) return limit ?? budget;
    const isHigher = budgetKinds.some((kind) => (budget[kind] ?? 0) > (limit[kind] ?? Infinity));
    if (isHigher || budget.per !== limit.per)
      throw fail("forbidden", `The host's owner limits your budget to ${JSON.stringify(limit)}. Choose a lower one.`);
    return { ...limit, ...budget };
  }

  #setDiskUsage(agent: string, bytes: number): void {
    this.#sql.exec(
      "INSERT INTO disk_usage (agent, bytes) VALUES (?, ?) ON CONFLICT (agent) DO UPDATE SET bytes = excluded.bytes",
      agent,
      bytes,
    );
  }

  /** Returns the disk space that is left; undefined if it is not limited. */
  #getFreeBytes(): number | undefined {
    const { diskMb } = this.get();
    return diskMb === undefined ? undefined : diskMb * megabyte - this.countDiskBytes();
  }
}
