import { hasScope, parseAddress, parseAgencyKey } from "@thinkery/sdk";
import type { AgencyRegistry } from "../user/agencies.ts";
import type { Connections } from "../user/connections.ts";
import type { Credentials } from "../user/credentials.ts";
import type { SharedAgencies } from "../user/shared-agencies.ts";
import { type ConnectionHolder, type Credential, parseMembership } from "./credential-watch.ts";
import type { Env } from "./env.ts";

interface UserConnectionsOptions {
  env: Env;
  user: string;
  connections: Connections;
  credentials: Credentials;
  agencies: AgencyRegistry;
  shared: SharedAgencies;
  /** Closes connections of the user's own object. */
  closeOwn(credential: Credential): Promise<void>;
}

/** Ends the connections of a user, wherever they are, with the credentials and memberships they depend on. */
export class UserConnections {
  readonly #options: UserConnectionsOptions;

  constructor(options: UserConnectionsOptions) {
    this.#options = options;
  }

  /** Notes that an object has connections of a credential or a membership. Returns whether that is still valid. */
  add(hash: string, holder: ConnectionHolder): boolean {
    if (!this.#mayConnect(hash, holder)) return false;
    this.#options.connections.add(hash, holder.kind, holder.name);
    return true;
  }

  remove(hash: string, { kind, name }: ConnectionHolder): void {
    this.#options.connections.remove(hash, kind, name);
  }

  async closeInvalid(): Promise<void> {
    const { connections, user } = this.#options;
    const invalid = connections.takeInvalid((row) => this.#mayConnect(row.hash, toHolder(row)));
    await Promise.allSettled(invalid.map((row) => this.#close({ user, hash: row.hash }, toHolder(row))));
  }

  /** Whether the credential is valid, or the user is a member of the holder's agency with the scopes it names. */
  #mayConnect(hash: string, { name }: ConnectionHolder): boolean {
    const { credentials, shared } = this.#options;
    const needed = parseMembership(hash);
    if (!needed) return credentials.find(hash) !== undefined;
    const granted = shared.getScopes(getAgencyKey(name));
    return granted !== undefined && needed.every((scope) => hasScope(granted, scope));
  }

  /** Leaves out what was deleted, because calling it would create it again. */
  async #close(credential: Credential, { kind, name }: ConnectionHolder): Promise<void> {
    const { env, agencies, closeOwn } = this.#options;
    if (kind === "User") return closeOwn(credential);
    const key = getAgencyKey(name);
    const { id, user } = parseAgencyKey(key);
    // An agency of another user takes itself away from its members before it is deleted.
    if (user === credential.user && !agencies.find(id)) return;
    const agency = env.Agency.getByName(key);
    if (kind === "Agency") return agency.closeConnections(credential);
    const [agent = ""] = parseAddress(name)?.path ?? [];
    if (await agency.hasAgent(agent)) await env.Think.getByName(name).closeConnections(credential);
  }
}

const toHolder = ({ kind, name }: { kind: string; name: string }) => ({ kind: kind as ConnectionHolder["kind"], name });

/** Returns the key of the agency that an object is in, or is. */
const getAgencyKey = (name: string) => parseAddress(name)?.agency ?? name;
