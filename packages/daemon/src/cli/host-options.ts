import { dirname, join, resolve } from "node:path";
import { fail } from "@thinkery/sdk";
import { loadConfig } from "../config/load.ts";
import { checkModelAddress, checkModelIds, readModelVariables, listProviders } from "../config/providers.ts";
import { openHome } from "../home/home.ts";
import { toBindAddress, checkExposure } from "../host/address.ts";
import type { FoundHost } from "../host/discovery.ts";
import type { HostOptions } from "../host/host.ts";
import { locateParts } from "../host/parts.ts";
import { bundleWorker, checkEntry } from "../host/worker/worker.ts";
import type { Cli } from "./cli.ts";

/** Host options from the command line. */
export interface HostFlags {
  host?: string;
  port?: number;
  /** The file of a custom Worker; false forces the built-in one. */
  worker?: string | false;
  watch?: boolean;
  /** Values of the previous host, used if neither a flag nor the configuration sets them. */
  lastHost?: string;
  lastPort?: number;
  lastWorker?: string;
}

export const defaultHost = "127.0.0.1";
export const defaultPort = 5099;

/** Merges flags, configuration and environment; throws on any invalid value. */
export async function resolveHostOptions(cli: Cli, flags: HostFlags): Promise<HostOptions> {
  const home = await openHome(cli.env);
  const { config } = await loadConfig(home.path, cli.cwd);
  const host = toBindAddress(flags.host ?? config.host ?? flags.lastHost ?? defaultHost);
  const port = flags.port ?? config.port;
  checkModelAddress(cli.env, cli.cwd);
  checkModelIds(config);
  const adminToken = cli.env.THINKERY_URL ? undefined : cli.env.THINKERY_TOKEN || undefined;
  checkExposure(host, adminToken);
  const worker = resolveWorker(cli, flags, config.worker && resolve(home.path, config.worker));
  return {
    home,
    host,
    port: port ?? flags.lastPort ?? defaultPort,
    isPortFixed: port !== undefined,
    slots: config.sandboxSlots,
    agentSlots: config.agentSlots,
    limits: {
      failures: config.maxFailuresPerMinute,
      silenceMs: config.stallTimeoutSeconds * 1000,
      startMs: config.startTimeoutSeconds * 1000,
    },
    allowedHosts: config.allowedHosts,
    allowedOrigins: config.allowedOrigins,
    toolOrigins: config.toolOrigins,
    ...(adminToken ? { adminToken } : {}),
    providers: listProviders(cli.env, config.providers),
    models: {
      ...(config.model ? { model: config.model } : {}),
      models: config.models,
      reasoning: config.reasoning,
      providers: config.providers,
      prices: config.prices,
      contextTokens: config.contextTokens,
    },
    modelVariables: readModelVariables(cli.env, config.providers),
    turn: config.turn,
    policy: config.policy,
    subagents: config.subagents,
    sandbox: config.sandbox,
    linux: config.linux,
    workspace: config.workspace,
    scriptFolders: [home.path, cli.cwd].map((folder) => join(folder, "scripts")),
    parts: locateParts(dirname(cli.entry)),
    ...(worker ? { worker } : {}),
  };
}

function resolveWorker(
  cli: Cli,
  { worker, watch = false, lastWorker }: HostFlags,
  configured: string | undefined,
): HostOptions["worker"] {
  const entry = worker === undefined ? (configured ?? lastWorker) : worker && resolve(cli.cwd, worker);
  if (!entry && watch) throw fail("bad_request", "--watch requires a custom Worker. Pass its file with --worker.");
  if (!entry) return undefined;
  checkEntry(entry);
  return { entry, watch };
}

/** Like `resolveHostOptions`, but also checks that the Worker builds, before a running host is stopped. */
export async function resolveReplacementOptions(cli: Cli, flags: HostFlags): Promise<HostOptions> {
  const options = await resolveHostOptions(cli, flags);
  if (options.worker && options.parts) await bundleWorker(options.worker.entry, options.parts.version);
  return options;
}

/** Returns the flags that let a new host take the place of a running one. */
export function toLastFlags({ host, port, worker }: FoundHost): HostFlags {
  return { lastHost: host, lastPort: port, ...(worker ? { lastWorker: worker } : {}) };
}

/** Warns if the running host has a different address or Worker than requested. */
export function noteDifference(cli: Cli, { host, port, worker }: HostFlags, found: FoundHost): void {
  const hasSameAddress =
    (host === undefined || toBindAddress(host) === found.host) && (port === undefined || port === found.port);
  if (!hasSameAddress)
    cli.output.writeMessage("The host keeps its address. To change it, run `thinkery restart` with the same options.");
  const hasOtherWorker = worker !== undefined && (worker ? resolve(cli.cwd, worker) : undefined) !== found.worker;
  if (hasOtherWorker)
    cli.output.writeMessage(
      "The host keeps its current Worker. To change it, run `thinkery restart` with the same options.",
    );
}

export function parsePort(text: string): number {
  const port = Number(text);
  if (!/^\d{1,5}$/.test(text) || port > 65535) {
    throw fail("bad_request", `“${text}” is not a port. Use a number from 1 to 65535, or 0 for any free port.`);
  }
  return port;
}
