import type { Scope, Token } from "@thinkery/sdk";
import { RpcTarget } from "cloudflare:workers";
import type { CheckedCredential, Credentials, NewCredential, Presentation } from "../user/credentials.ts";
import type { Limits } from "../user/limits.ts";

interface CredentialsParts {
  credentials: Credentials;
  limits: Limits;
  /** Everyone who can log in has an agency that `/agents` means. */
  ensureDefaultAgency(): Promise<void>;
  /** Called when credentials may have become invalid. */
  onRevoked(): Promise<void>;
}

/** The tokens, logins and login codes of a user. */
export class CredentialsApi extends RpcTarget {
  readonly #open: () => Promise<CredentialsParts>;

  constructor(open: () => Promise<CredentialsParts>) {
    super();
    this.#open = open;
  }

  async add(credential: NewCredential): Promise<Token> {
    const { credentials, ensureDefaultAgency } = await this.#open();
    await ensureDefaultAgency();
    return credentials.add(credential);
  }

  /** Returns a valid credential and how many requests it may send before it is checked again. */
  async check(hash: string, presented: Presentation): Promise<(CheckedCredential & { requests: number }) | undefined> {
    const { credentials, limits } = await this.#open();
    const credential = credentials.use(hash, presented);
    return credential && { ...credential, requests: limits.grantRequests(hash) };
  }

  async redeemCode(hash: string): Promise<Scope[] | undefined> {
    return (await this.#open()).credentials.redeem(hash);
  }

  /** `currentHash` is that of the caller's own credential. */
  async list(currentHash?: string): Promise<Token[]> {
    return (await this.#open()).credentials.list(currentHash);
  }

  async revoke(by: { id: string } | { hash: string }): Promise<string | undefined> {
    const { credentials, onRevoked } = await this.#open();
    const hash = credentials.revoke(by);
    await onRevoked();
    return hash;
  }
}
