import type { Budget, BudgetStatus } from "@thinkery/sdk";
import {
  toMeasures,
  findReachedLimit,
  createBudgetStatuses,
  type UnknownAmount,
  findUnenforceableLimit,
} from "./budget-status.ts";
import { amountColumns, amountNames, amountSums, type UsageAmounts, formatDay, type UsageRow } from "./usage.ts";

/** What is set aside for a call to a model. */
export interface Reservation {
  steps: number;
  tokens: number;
  costUsd: number;
}

/** Who spends: an agent in its agency's books, an agency in its user's. One made anew under an old name is another. */
export interface Account {
  name: string;
  since: number;
}

/**
 * What an account says of itself. It says sums and no differences, so that one that was lost or came twice is made good
 * by the next.
 */
export interface UsageReport extends Account {
  /** Grows with all that is spent and with every end of a turn; an older statement that comes late is not heard. */
  version: number;
  /** Everything on the days that are named. */
  spent: UsageRow[];
  /** Of all days, so that it is noticed where one is missing. */
  inAll: Pick<UsageAmounts, "calls" | "ms">;
  /** All that it has set aside now. */
  reserved: Reservation;
  /** The part of it that is asked for now, and taken back if it is refused. */
  asked?: ReservationRequest;
}

/** What a call is taken to use, and what nobody knows of that. */
export interface ReservationRequest extends Reservation {
  unknown?: UnknownAmount;
}

export interface ReservationResult {
  /** The limit that leaves no room for what was asked. */
  refused?: BudgetStatus;
  /** It is refused because the limit could not be kept. */
  unknown?: UnknownAmount;
  /** Days are missing here: state all of them. */
  incomplete?: true;
}

export const noReservation: Reservation = { steps: 0, tokens: 0, costUsd: 0 };

const replaceAssignments = amountNames.map((name) => `${name} = excluded.${name}`).join(", ");
const incrementAssignments = amountNames.map((name) => `${name} = ${name} + excluded.${name}`).join(", ");
const placeholders = amountNames.map(() => "?").join(", ");

/** The books of an agency or a user: what each account has spent and set aside, and the budget over all of them. */
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

  /** Takes a statement down, and says whether there is room for what it asks. */
  applyReport(statement: UsageReport, now = Date.now()): ReservationResult {
    return this.#storage.transactionSync(() => {
      const known = this.#readVersion(statement);
      if (known !== undefined && known > statement.version) return {};
      this.#write(statement);
      const { asked, reserved } = statement;
      // Others count as spent what this one has set aside, but it does not stand in its own way. A statement that asks
      // for nothing and is no newer than the last was made before that one asked: what it asked for stays reserved.
      if (asked || known !== statement.version) this.#reserve(statement, subtractReservation(reserved, asked));
      const verdict = asked ? this.#evaluate(asked, now) : {};
      if (asked && !verdict.refused) this.#reserve(statement, reserved);
      this.#sql.exec("UPDATE books SET version = version + 1");
      return this.#isComplete(statement) ? verdict : { ...verdict, incomplete: true };
    });
  }

  /** It is over, or was refused elsewhere: nothing is set aside for it any more. */
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

  /** What all accounts together have set aside. */
  sumReservations(): Reservation {
    const query = `SELECT coalesce(sum(reserved_steps), 0) AS steps, coalesce(sum(reserved_tokens), 0) AS tokens, coalesce(sum(reserved_usd), 0) AS costUsd
      FROM accounts WHERE reserved_steps > 0`;
    return { ...this.#sql.exec<Reservation & Record<string, number>>(query).one() };
  }

  /** What these books state themselves, one level up: every day since this one. */
  createReport(account: Account, since: string): Omit<UsageReport, "asked"> {
    const { version } = this.#sql.exec<{ version: number }>("SELECT version FROM books").one();
    const { calls, ms } = this.#readTotal();
    return { ...account, version, spent: this.readRows(since), inAll: { calls, ms }, reserved: this.sumReservations() };
  }

  readRows(since: string): UsageRow[] {
    return this.#sql.exec<UsageRow>("SELECT * FROM spending WHERE day >= ? ORDER BY day, model", since).toArray();
  }

  /** Each account's share since a day; those that had none are left out. */
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
    const unkept = unknown && findUnenforceableLimit(statuses, unknown);
    if (unkept) return { refused: unkept, unknown };
    const refused = findReachedLimit(statuses);
    return refused ? { refused } : {};
  }

  #readVersion({ name, since }: Account): number | undefined {
    const [known] = this.#sql
      .exec<{ version: number }>("SELECT version FROM accounts WHERE name = ? AND since = ?", name, since)
      .toArray();
    return known?.version;
  }

  /** Overwrites the account's rows, and adds to the sums by how much they changed. */
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
      const more = amountNames.map((amount) => row[amount] - (known?.[amount] ?? 0));
      if (known && more.every((amount) => amount === 0)) continue;
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
        ...more,
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

  #isComplete({ name, since, inAll }: UsageReport): boolean {
    const query =
      "SELECT coalesce(sum(calls), 0) AS calls, coalesce(sum(ms), 0) AS ms FROM account_spending WHERE name = ? AND since = ?";
    const { calls, ms } = this.#sql.exec<{ calls: number; ms: number }>(query, name, since).one();
    return calls === inAll.calls && ms === inAll.ms;
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
