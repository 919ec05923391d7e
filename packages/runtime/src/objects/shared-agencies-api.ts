import { fail, type Scope } from "@thinkery/sdk";
import { RpcTarget } from "cloudflare:workers";
import type { SharedAgencies, SharedAgency } from "../user/shared-agencies.ts";

interface SharedParts {
  shared: SharedAgencies;
  /** Whether there is such a user, and goes on to be one. */
  exists: boolean;
  /** Ends the connections that the user may no longer have. */
  closeInvalidConnections(): Promise<void>;
  /** Called when the list of the user's agencies has changed. */
  onChange(): void;
}

/**
 * The agencies of others that a user is a member of; called by these agencies, which are given by their keys. Nothing
 * here waits for the object to be awake: while it finishes what a crash interrupted, those agencies may wait for it.
 */
export class SharedAgenciesApi extends RpcTarget {
  readonly #open: () => Promise<SharedParts>;

  constructor(open: () => Promise<SharedParts>) {
    super();
    this.#open = open;
  }

  /** Lets the user use an agency, or changes what they may do there. */
  async grant(key: string, agency: SharedAgency): Promise<void> {
    const { shared, exists, closeInvalidConnections, onChange } = await this.#open();
    if (!exists) throw fail("not_found", "User not found.");
    if (!shared.hasRoom(key)) throw fail("conflict", "This user is a member of too many agencies.");
    shared.put(key, agency);
    onChange();
    await closeInvalidConnections();
  }

  async revoke(key: string): Promise<void> {
    const { shared, closeInvalidConnections, onChange } = await this.#open();
    shared.remove(key);
    onChange();
    await closeInvalidConnections();
  }

  async rename(key: string, name: string): Promise<void> {
    const { shared, onChange } = await this.#open();
    shared.rename(key, name);
    onChange();
  }

  /** Returns what the user may do in an agency; undefined if it is not shared with them. */
  async getScopes(key: string): Promise<Scope[] | undefined> {
    return (await this.#open()).shared.getScopes(key);
  }

  async listKeysWith(scope: Scope): Promise<string[]> {
    return (await this.#open()).shared.listKeysWith(scope);
  }
}
