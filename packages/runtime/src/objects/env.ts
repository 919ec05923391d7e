import type { PolicyRule } from "@thinkery/sdk";
import type { Boot, SubagentLimits, TurnLimits, WorkspaceLimits } from "@thinkery/sdk/internal";
import type { RpcTarget } from "cloudflare:workers";
import type { OutboundEnv } from "../host/outbound.ts";
import type { ModelEnv } from "../model/providers.ts";
import type { SandboxEnv } from "../sandbox/open.ts";
import type { BlobEnv } from "../store/blobs/counted.ts";
import type { Agency } from "./agency.ts";
import type { Think } from "./think.ts";
import type { User } from "./user.ts";

type Call = (...input: never[]) => Promise<unknown>;

/**
 * A namespace whose stubs have the asynchronous methods of the objects and the APIs of their features. Only plain data
 * is passed; the platform's mapped types fail on the open records of our schemas.
 */
interface ObjectNamespace<T> {
  idFromName(name: string): { toString(): string };
  getByName(
    name: string,
  ): { [K in keyof T as T[K] extends Call | RpcTarget ? K : never]: T[K] } & Pick<Fetcher, "fetch">;
}

/** The Worker's bindings. Objects are bound under their class names, as the Agents SDK expects. */
export interface Env extends ModelEnv, OutboundEnv, SandboxEnv, BlobEnv {
  Think: ObjectNamespace<Think>;
  Agency: ObjectNamespace<Agency>;
  User: ObjectNamespace<User>;
  /** The page's files: a disk service locally, static assets on Cloudflare. */
  ASSETS: Fetcher;
  VERSION: string;
  STARTED_AT: string;
  ADMIN_TOKEN_HASH: string;
  SIGNING_KEY: string;
  COOKIE_NAME: string;
  ALLOWED_HOSTS: string[];
  ALLOWED_ORIGINS: string[];
  /** Names of the model providers that have a key or a base URL. */
  PROVIDERS: string[];
  /** Set by the daemon; the defaults apply if absent. */
  TURN_LIMITS?: TurnLimits;
  SUBAGENT_LIMITS?: SubagentLimits;
  WORKSPACE_LIMITS?: WorkspaceLimits;
  /** The rules of the host, for all agents. */
  POLICY?: PolicyRule[];
  /** Identifies this start of main, and says how the previous one ended. */
  BOOT?: Boot;
}
