import { hasScope, parseAddress, parseAgencyKey } from "@thinkery/sdk";
import type { AgencyRegistry } from "../user/agencies.ts";
import type { Connections } from "../user/connections.ts";
import type { Credentials } from "../user/credentials.ts";
import type { SharedAgencies } from "../user/shared-agencies.ts";
import { type ConnectionHolder, type Credential, parseMembership } from "./credential-watch.ts";
import type { Env } from "./env.ts";

interface ConnectionHoldersOptions {
  env: Env;
  user: string;
  connections: Connections;
  credentials: Credentials;
  shared: SharedAgencies;
  agencies: AgencyRegistry;
  /** Closes the connections of the user's own object. */
  closeOwn(credential: Credential): Promise<void>;
}

/** The objects that hold connections of a user's credentials and memberships. */
export class ConnectionHolders {
  readonly #options: ConnectionHoldersOptions;

  constructor(options: ConnectionHoldersOptions) {
    this.#options = options;
  }

  /** Whether the credential is valid, or the user is a member of the holder's agency with the scopes it names. */
  mayConnect(hash: string, { name }: ConnectionHolder): boolean {
    const { credentials, shared } = this.#options;
    const needed = parseMembership(hash);
    if (!needed) return credentials.find(hash) !== undefined;
    const granted = shared.getScopes(getAgencyKey(name));
    return granted !== undefined && needed.every((scope) => hasScope(granted, scope));
  }

  /** Closes the connections whose credential or membership has ended. */
  async closeInvalid(): Promise<void> {
    const { connections, user, closeOwn } = this.#options;
    const invalid = connections.takeInvalid(({ hash, kind, name }) => this.mayConnect(hash, toHolder(kind, name)));
    await Promise.allSettled(
      invalid.map(async ({ hash, kind, name }) => {
        if (kind === "User") return closeOwn({ user, hash });
        await (await this.#find(toHolder(kind, name)))?.closeConnections({ user, hash });
      }),
    );
  }

  /** Returns undefined if the object was deleted, because calling it would create it again. */
  async #find({ kind, name }: ConnectionHolder) {
    const { env, agencies } = this.#options;
    const key = getAgencyKey(name);
    const { id, user } = parseAgencyKey(key);
    // An agency of another user takes itself away from its members before it is deleted.
    if (user === this.#options.user && !agencies.find(id)) return undefined;
    const agency = env.Agency.getByName(key);
    if (kind === "Agency") return agency;
    const [agent = ""] = parseAddress(name)?.path ?? [];
    return (await agency.hasAgent(agent)) ? env.Think.getByName(name) : undefined;
  }
}

const toHolder = (kind: string, name: string) => ({ kind: kind as ConnectionHolder["kind"], name });

/** Returns the key of the agency that an object is in, or is. */
const getAgencyKey = (name: string) => parseAddress(name)?.agency ?? name;
