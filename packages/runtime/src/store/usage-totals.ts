import type { Budget, BudgetStatus } from "@thinkery/sdk";
import {
  toMeasures,
  findReachedLimit,
  createBudgetStatuses,
  type UnknownAmount,
  findUnenforceableLimit,
} from "./budget-status.ts";
import { amountColumns, amountNames, amountSums, type UsageAmounts, formatDay, type UsageRow } from "./usage.ts";

/** What is reserved for model calls. */
export interface Reservation {
  steps: number;
  tokens: number;
  costUsd: number;
}

/** Who spends: an agent of an agency, or an agency of a user. One recreated under the same name is a new account. */
export interface Account {
  name: string;
  since: number;
}

/**
 * An account's report of its own usage. It contains sums, not differences, so that a report that was lost or delivered
 * twice is corrected by the next.
 */
export interface UsageReport extends Account {
  /** Increases with all spending and at the end of each turn. A late report with an older version is ignored. */
  version: number;
  /** All usage of the days listed. */
  spent: UsageRow[];
  /** Totals of all days, to detect missing ones. */
  totals: Pick<UsageAmounts, "calls" | "ms">;
  /** Everything reserved now, including `request`. */
  reserved: Reservation;
  /** The part of `reserved` that is requested now, and dropped if it is refused. */
  request?: ReservationRequest;
}

/** The estimated usage of a call, and what about it is unknown. */
export interface ReservationRequest extends Reservation {
  unknown?: UnknownAmount;
}

export interface ReservationResult {
  /** The limit that leaves no room for the request. */
  refused?: BudgetStatus;
  /** Set if the request is refused because the limit could not be enforced. */
  unknown?: UnknownAmount;
  /** Days are missing from the totals: report all of them. */
  incomplete?: true;
}

export const noReservation: Reservation = { steps: 0, tokens: 0, costUsd: 0 };

const replaceAssignments = amountNames.map((name) => `${name} = excluded.${name}`).join(", ");
const incrementAssignments = amountNames.map((name) => `${name} = ${name} + excluded.${name}`).join(", ");
const placeholders = amountNames.map(() => "?").join(", ");

/** The usage totals of an agency or a user: what each account has spent and reserved, and the shared budget. */
export class UsageTotals {
  readonly #storage: DurableObjectStorage;
  readonly #sql: SqlStorage;
  readonly #level: "agency" | "user";

  constructor(storage: DurableObjectStorage, level: "agency" | "user") {
    this.#storage = storage;
    this.#sql = storage.sql;
    this.#level = level;
  }

  get budget(): Budget | undefined {
    const { budget } = this.#sql.exec<{ budget: string | null }>("SELECT budget FROM books").one();
    return budget === null ? undefined : (JSON.parse(budget) as Budget);
  }

  set budget(budget: Budget | undefined) {
    this.#sql.exec("UPDATE books SET budget = ?", budget ? JSON.stringify(budget) : null);
  }

  /** Stores a report, and decides whether the budget has room for what it requests. */
  applyReport(report: UsageReport, now = Date.now()): ReservationResult {
    return this.#storage.transactionSync(() => {
      const known = this.#readVersion(report);
      if (known !== undefined && known > report.version) return {};
      this.#write(report);
      const { request, reserved } = report;
      // A reservation counts as spent for other accounts, but must not block the request it is part of. A report
      // without a request that is no newer than the last one was created before that one's request, which stays
      // reserved.
      if (request || known !== report.version) this.#reserve(report, subtractReservation(reserved, request));
      const result = request ? this.#evaluate(request, now) : {};
      if (request && !result.refused) this.#reserve(report, reserved);
      this.#sql.exec("UPDATE books SET version = version + 1");
      return this.#isComplete(report) ? result : { ...result, incomplete: true };
    });
  }

  /** Releases everything reserved for an account. */
  release({ name, since }: Account): void {
    this.#sql.exec(
      "UPDATE accounts SET reserved_steps = 0, reserved_tokens = 0, reserved_usd = 0 WHERE name = ? AND since = ?",
      name,
      since,
    );
    this.#sql.exec("UPDATE books SET version = version + 1");
  }

  listBudgetStatuses(now = Date.now()): BudgetStatus[] {
    const { budget } = this;
    if (!budget) return [];
    const { per } = budget;
    const spent = toMeasures(this.#readTotal(per === "day" ? formatDay(now) : undefined));
    return createBudgetStatuses({
      level: this.#level,
      per,
      limits: budget,
      spent,
      reserved: { ...this.sumReservations(), seconds: 0 },
    });
  }

  /** Returns the sum of all reservations. */
  sumReservations(): Reservation {
    const query = `SELECT coalesce(sum(reserved_steps), 0) AS steps, coalesce(sum(reserved_tokens), 0) AS tokens, coalesce(sum(reserved_usd), 0) AS costUsd
      FROM accounts WHERE reserved_steps > 0`;
    return { ...this.#sql.exec<Reservation & Record<string, number>>(query).one() };
  }

  /** Returns a report of these totals for the level above, with every day since the given one. */
  createReport(account: Account, since: string): Omit<UsageReport, "request"> {
    const { version } = this.#sql.exec<{ version: number }>("SELECT version FROM books").one();
    const { calls, ms } = this.#readTotal();
    return {
      ...account,
      version,
      spent: this.readRows(since),
      totals: { calls, ms },
      reserved: this.sumReservations(),
    };
  }

  readRows(since: string): UsageRow[] {
    return this.#sql.exec<UsageRow>("SELECT * FROM spending WHERE day >= ? ORDER BY day, model", since).toArray();
  }

  /** Returns each account's share since a day, without accounts that have none. */
  readShares(since: string): (Account & UsageAmounts)[] {
    return this.#sql
      .exec<Account & UsageAmounts & Record<string, SqlStorageValue>>(
        `SELECT name, since, ${amountSums} FROM account_spending WHERE day >= ? GROUP BY name, since ORDER BY name, since`,
        since,
      )
      .toArray();
  }

  #evaluate({ unknown }: ReservationRequest, now: number): ReservationResult {
    const statuses = this.listBudgetStatuses(now);
    const unenforceable = unknown && findUnenforceableLimit(statuses, unknown);
    if (unenforceable) return { refused: unenforceable, unknown };
    const refused = findReachedLimit(statuses);
    return refused ? { refused } : {};
  }

  #readVersion({ name, since }: Account): number | undefined {
    const [known] = this.#sql
      .exec<{ version: number }>("SELECT version FROM accounts WHERE name = ? AND since = ?", name, since)
      .toArray();
    return known?.version;
  }

  /** Overwrites the account's rows, and adds the differences to the sums. */
  #write({ name, since, spent }: UsageReport): void {
    const first = spent.reduce((earliest, { day }) => (day < earliest ? day : earliest), "~");
    const before = new Map(
      this.#sql
        .exec<UsageRow>("SELECT * FROM account_spending WHERE name = ? AND since = ? AND day >= ?", name, since, first)
        .toArray()
        .map((row) => [`${row.day} ${row.model}`, row]),
    );
    for (const row of spent) {
      const known = before.get(`${row.day} ${row.model}`);
      const difference = amountNames.map((amount) => row[amount] - (known?.[amount] ?? 0));
      if (known && difference.every((amount) => amount === 0)) continue;
      this.#sql.exec(
        `INSERT INTO account_spending (name, since, day, model, ${amountColumns}) VALUES (?, ?, ?, ?, ${placeholders})
         ON CONFLICT (name, since, day, model) DO UPDATE SET ${replaceAssignments}`,
        name,
        since,
        row.day,
        row.model,
        ...amountNames.map((amount) => row[amount]),
      );
      this.#sql.exec(
        `INSERT INTO spending (day, model, ${amountColumns}) VALUES (?, ?, ${placeholders}) ON CONFLICT (day, model) DO UPDATE SET ${incrementAssignments}`,
        row.day,
        row.model,
        ...difference,
      );
    }
  }

  #reserve({ name, since, version }: UsageReport, { steps, tokens, costUsd }: Reservation): void {
    this.#sql.exec(
      `INSERT INTO accounts (name, since, version, reserved_steps, reserved_tokens, reserved_usd) VALUES (?, ?, ?, ?, ?, ?)
       ON CONFLICT (name, since) DO UPDATE SET version = excluded.version,
         reserved_steps = excluded.reserved_steps, reserved_tokens = excluded.reserved_tokens, reserved_usd = excluded.reserved_usd`,
      name,
      since,
      version,
      steps,
      tokens,
      costUsd,
    );
  }

  #isComplete({ name, since, totals }: UsageReport): boolean {
    const query =
      "SELECT coalesce(sum(calls), 0) AS calls, coalesce(sum(ms), 0) AS ms FROM account_spending WHERE name = ? AND since = ?";
    const { calls, ms } = this.#sql.exec<{ calls: number; ms: number }>(query, name, since).one();
    return calls === totals.calls && ms === totals.ms;
  }

  #readTotal(day?: string): UsageAmounts {
    const [where, ...values] = day === undefined ? [""] : ["WHERE day = ?", day];
    return this.#sql
      .exec<UsageAmounts & Record<string, number>>(`SELECT ${amountSums} FROM spending ${where}`, ...values)
      .one();
  }
}

export function addReservations(all: Reservation, { steps, tokens, costUsd }: Reservation): Reservation {
  return { steps: all.steps + steps, tokens: all.tokens + tokens, costUsd: all.costUsd + costUsd };
}

export function subtractReservation(
  all: Reservation,
  { steps, tokens, costUsd }: Reservation = noReservation,
): Reservation {
  return { steps: all.steps - steps, tokens: all.tokens - tokens, costUsd: all.costUsd - costUsd };
}
