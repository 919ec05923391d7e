import type { AgencyUsage, Budget, BudgetAnswer, Standing } from "@thinkery/sdk";
import { type Account, Accounts, type Asked, noReservation, type Statement, type Verdict, without } from "../store/accounts.ts";
import { dayOf, figuresOf, firstOf, reportOf } from "../store/spent.ts";
import type { Charter } from "./charter.ts";
import { revise } from "./revision.ts";

/** The owner's books, one level up. */
export interface OwnersBooks {
  state(statement: Statement): Promise<Verdict>;
  standings(): Promise<Standing[]>;
}

/** The books of one agency: what its agents spend, and its own budget. It states its sums to its owner. */
export class AgencyAccounts {
  readonly #storage: DurableObjectStorage;
  readonly #books: Accounts;
  readonly #agency: string;
  readonly #charter: Charter;
  readonly #owner: OwnersBooks;
  /** One statement after the other, so that each says what came of the one before it. */
  #telling: Promise<unknown> = Promise.resolve();

  constructor(storage: DurableObjectStorage, agency: string, charter: Charter, owner: OwnersBooks) {
    this.#storage = storage;
    this.#books = new Accounts(storage, "agency");
    this.#agency = agency;
    this.#charter = charter;
    this.#owner = owner;
  }

  /** Must an agent ask before it calls a model? */
  get metered(): boolean {
    return this.#books.budget !== undefined || this.#charter.metered;
  }

  set budget(budget: Budget | undefined) {
    this.#books.budget = budget;
    revise(this.#agency);
  }

  answer(): BudgetAnswer {
    return { budget: this.#books.budget ?? null, standings: this.#books.standings() };
  }

  /** One agent's statement, with what it asks for its next call. */
  async account(statement: Statement): Promise<Verdict> {
    const verdict = this.#books.state(statement);
    if (!statement.asked || verdict.refused || !this.#charter.metered) return verdict;
    const release = () => this.#books.release(statement);
    const { refused, unknown } = await this.#tell(statement.asked).catch((error: unknown) => {
      release();
      throw error;
    });
    if (!refused) return verdict;
    release();
    return { ...verdict, refused, ...(unknown ? { unknown } : {}) };
  }

  /** What several agents have to say that ask for nothing; answers whose days are not all here. */
  async accounts(statements: readonly Statement[]): Promise<string[]> {
    const incomplete = this.#storage.transactionSync(() =>
      statements.filter((statement) => this.#books.state(statement).incomplete).map(({ name }) => name),
    );
    await this.#tell();
    return incomplete;
  }

  /** The last statement of an agent that is being deleted. What it spent stays spent. */
  close(last: Statement): void {
    this.#books.state({ ...last, reserved: noReservation });
  }

  /** Everything, for an owner who is about to delete the agency. */
  whole(): Statement {
    return { ...this.#books.statement(this.#own(), ""), reserved: noReservation };
  }

  tell(): Promise<unknown> {
    return this.#tell();
  }

  async standings(): Promise<Standing[]> {
    return [...this.#books.standings(), ...(this.#charter.metered ? await this.#owner.standings() : [])];
  }

  async usage(days: number | undefined): Promise<AgencyUsage> {
    const since = firstOf(days, Date.now());
    return {
      ...reportOf(this.#books.rows(since)),
      byAgent: this.#books.shares(since).map(({ name, since, ...share }) => ({
        agent: name,
        createdAt: new Date(since).toISOString(),
        ...figuresOf(share),
      })),
      budget: await this.standings(),
    };
  }

  #tell(asked?: Asked): Promise<Verdict> {
    const told = this.#telling.then(() => this.#state(asked));
    this.#telling = told.catch(() => {});
    return told;
  }

  async #state(asked?: Asked): Promise<Verdict> {
    const recent = this.#books.statement(this.#own(), dayOf(Date.now() - 86_400_000));
    const verdict = await this.#owner.state({ ...recent, ...(asked ? { asked } : {}) });
    if (!verdict.incomplete) return verdict;
    const whole = this.#books.statement(this.#own(), "");
    await this.#owner.state(verdict.refused ? { ...whole, reserved: without(whole.reserved, asked) } : whole);
    return verdict;
  }

  #own(): Account {
    return { name: this.#agency, since: this.#charter.since };
  }
}
