import type { Boot, TurnLimits, WorkspaceLimits } from "@thinkery/sdk/internal";
import type { RpcTarget } from "cloudflare:workers";
import type { OutboundEnv } from "../host/outbound.ts";
import type { ModelEnv } from "../model/providers.ts";
import type { SandboxEnv } from "../sandbox/open.ts";
import type { Agency } from "./agency.ts";
import type { Think } from "./think.ts";
import type { User } from "./user.ts";

type Call = (...input: never[]) => Promise<unknown>;

/**
 * A namespace of objects whose stubs look like the objects' own asynchronous methods and the APIs of their features.
 * What crosses is plain data; the platform's mapped types give up on our schemas' open records.
 */
interface ObjectNamespace<T> {
  getByName(
    name: string,
  ): { [K in keyof T as T[K] extends Call | RpcTarget ? K : never]: T[K] } & Pick<Fetcher, "fetch">;
}

/** What the Worker is bound to. Binding names of objects are their class names, as the Agents SDK expects. */
export interface Env extends ModelEnv, OutboundEnv, SandboxEnv {
  Think: ObjectNamespace<Think>;
  Agency: ObjectNamespace<Agency>;
  User: ObjectNamespace<User>;
  /** The page's files: a disk service here, static assets on Cloudflare. */
  ASSETS: Fetcher;
  /** Big values: a disk service here, a bucket on Cloudflare. */
  BLOBS: Fetcher;
  BUCKET?: R2Bucket;
  VERSION: string;
  STARTED_AT: string;
  ADMIN_TOKEN_HASH: string;
  SIGNING_KEY: string;
  COOKIE_NAME: string;
  ALLOWED_HOSTS: string[];
  ALLOWED_ORIGINS: string[];
  /** Names of the model providers that have a key or an address. */
  PROVIDERS: string[];
  /** Absent where no daemon made them; then the defaults hold. */
  TURN_LIMITS?: TurnLimits;
  WORKSPACE_LIMITS?: WorkspaceLimits;
  /** This start of main, and how the one before it ended. */
  BOOT?: Boot;
}
