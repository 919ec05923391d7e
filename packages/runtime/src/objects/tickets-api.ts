import { RpcTarget } from "cloudflare:workers";
import type { Credentials, NewTicket, RedeemedTicket } from "../user/credentials.ts";

/** Tickets of a user's page, each for one path and one request. */
export class TicketsApi extends RpcTarget {
  readonly #open: () => Promise<Credentials>;

  constructor(open: () => Promise<Credentials>) {
    super();
    this.#open = open;
  }

  async add(ticket: NewTicket): Promise<void> {
    (await this.#open()).addTicket(ticket);
  }

  async redeem(hash: string, path: string): Promise<RedeemedTicket | undefined> {
    return (await this.#open()).redeemTicket(hash, path);
  }
}
