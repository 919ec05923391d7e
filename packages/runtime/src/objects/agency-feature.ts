import type { AgencySettings, TeamFrame } from "@thinkery/sdk";
import type { Redactor } from "@thinkery/sdk/internal";
import type { Connection } from "agents";
import type { AgencyRecord } from "../agency/agency-record.ts";
import type { AgentRegistry } from "../agency/agents.ts";
import type { Blobs } from "../store/blobs/blobs.ts";
import type { OptionalTables } from "../store/schema/agency-tables.ts";
import type { CredentialWatch } from "./credential-watch.ts";
import type { DiskQuota } from "./disk-quota.ts";
import type { Env } from "./env.ts";

/**
 * One feature of an agency. Its tables are in `store/schema`, its routes in `http/routes`, and its API for other objects
 * is an `RpcTarget`. `assembleAgency` creates all features.
 */
export interface AgencyFeature {
  /** Runs after each wake, before the agency handles anything. */
  wake?(connections: readonly Connection[]): void;
  /** Stops all activity, because the agency is about to be erased. */
  halt?(): void;
  /** Called when an agent was deleted, possibly twice. */
  forgetAgent?(name: string): void;
  /** Returns when it next has something to do (epoch ms), if ever. Call `updateTimer` when that gets earlier. */
  nextDueAt?(): number | undefined;
  /** Does what is due. May run late, and twice. */
  runDue?(now: number): void | Promise<void>;
}

/** What the features of an agency have in common. */
export interface AgencyContext {
  env: Env;
  storage: DurableObjectStorage;
  /** The tables of features that most agencies never use. */
  tables: OptionalTables;
  /** What the agency may still store. */
  disk: DiskQuota;
  /** Large values that the agency needs. */
  blobs: Blobs;
  /** The name of the agency's object: `review`, or `review@bob`. */
  key: string;
  record: AgencyRecord;
  agents: AgentRegistry;
  redactor: Redactor;
  credentialWatch: CredentialWatch;
  /** Returns the settings as they are now. */
  settings(): AgencySettings;
  /** Resolves once the agency is ready. Throws if it does not exist. */
  open(): Promise<unknown>;
  /** Returns an agent's object. It must be in `agents`. */
  getThink(agent: string): ReturnType<Env["Think"]["getByName"]>;
  /** Makes sure that features are asked for what is due, at this time if it is given. */
  updateTimer(time?: number): Promise<void>;
  /** Sends a frame to everyone who watches the agency. Built only if somebody does. */
  publish(createFrame: () => TeamFrame | undefined): void;
  /** Called when agents have to read again what the agency says. */
  onAgentsChange(): void;
  waitUntil(work: Promise<unknown>): void;
}
