import type { AgentAddress } from "@thinkery/sdk";
import { type Asked, noReservation, plus, type Reservation, type Statement, type Verdict, without } from "../store/accounts.ts";
import type { AgentStore } from "../store/agent-store.ts";
import { dayOf } from "../store/spent.ts";
import type { BudgetClient } from "../turn/budget/budget-client.ts";
import { TurnFailed } from "../turn/turn-failed.ts";
import type { Env } from "./env.ts";
import type { Registration } from "./registration.ts";
import { type Sending, stateNow, stateSoon } from "./statements.ts";

interface BooksOptions {
  env: Env;
  store: AgentStore;
  address: AgentAddress;
  registration: Registration;
  /** Has the agent to ask before it spends? */
  metered(): boolean | Promise<boolean>;
}

/** An agency that does not answer is asked again after these. */
const patienceMs = [50, 500];

/** How an agent states to its agency what it spends: before a call where it has to ask, else some time after its turn. */
export class Books implements BudgetClient {
  readonly #options: BooksOptions;
  #reserved: Reservation = noReservation;
  /** May the agency have something set aside for us? */
  #held = false;
  /** Counts rests: what was asked for before one is not set aside after it. */
  #rests = 0;
  /** Counts what is sent, to know the latest by; and whether that one has arrived, which nobody knows after a wake. */
  #sendings = 0;
  #heard = false;
  /** The agency has not all our days. */
  #incomplete = false;
  #asking: Promise<unknown> = Promise.resolve();

  constructor(options: BooksOptions) {
    this.#options = options;
  }

  metered(): boolean | Promise<boolean> {
    return this.#options.metered();
  }

  /** One question at a time: each says all that is set aside by then. */
  ask(call: Asked): Promise<Verdict> {
    const answer = this.#asking.then(() => this.#ask(call));
    this.#asking = answer.catch(() => {});
    return answer;
  }

  settle(call: Reservation): void {
    this.#reserved = without(this.#reserved, call);
  }

  /** Nothing more is done: nothing is set aside, and the agency hears of it at once where others may wait for that. */
  rest(): void {
    this.#rests++;
    this.#reserved = noReservation;
    const { env } = this.#options;
    if (this.#held) void stateNow(env, this.#sending());
    else stateSoon(env, this.#sending());
    this.#held = false;
  }

  /** Every now and then. Answers whether the agency has heard all there is to say. */
  async beat(busy: boolean): Promise<boolean> {
    const { env } = this.#options;
    if (busy) {
      // What a long turn has spent so far; where it has to ask, it has said so.
      if (!this.#held) stateSoon(env, this.#sending());
      return false;
    }
    if (!this.#heard || this.#incomplete) await stateNow(env, this.#sending());
    return this.#heard && !this.#incomplete;
  }

  /** All days: the last statement of an agent that is deleted. */
  whole(): Statement {
    return this.#statement("");
  }

  async #ask(call: Asked): Promise<Verdict> {
    const rests = this.#rests;
    this.#held = true;
    const first = await this.#account(call, yesterday());
    // Days that are missing there would not be counted.
    const verdict = first.incomplete ? await this.#account(call, "") : first;
    if (!verdict.refused && rests === this.#rests) this.#reserved = plus(this.#reserved, call);
    return verdict;
  }

  async #account(asked: Asked, since: string): Promise<Verdict> {
    const { env, address } = this.#options;
    for (const ms of [...patienceMs, undefined]) {
      try {
        const statement = { ...this.#statement(since), reserved: plus(this.#reserved, asked), asked };
        return await env.Agency.getByName(address.agency).account(statement);
      } catch (error) {
        console.error("the agency could not be asked", error);
        if (ms !== undefined) await new Promise((resolve) => setTimeout(resolve, ms));
      }
    }
    throw new TurnFailed("internal", "The agency could not be asked whether its budget has room.", "Send the message again.");
  }

  #sending(): Sending {
    const number = ++this.#sendings;
    this.#heard = false;
    return {
      agency: this.#options.address.agency,
      statement: this.#statement(this.#incomplete ? "" : yesterday()),
      arrived: (incomplete) => {
        this.#incomplete = incomplete;
        if (number === this.#sendings) this.#heard = true;
      },
    };
  }

  #statement(since: string): Statement {
    const { store, address, registration } = this.#options;
    const { spending, log } = store;
    return {
      name: address.path.join("/"),
      since: Date.parse(registration.get().agent.createdAt),
      version: log.last,
      spent: since === "" ? spending.rows() : spending.recent(since),
      inAll: spending.inAll(),
      reserved: this.#reserved,
    };
  }
}

const yesterday = () => dayOf(Date.now() - 86_400_000);
