import { dirname, join } from "node:path";
import { fail } from "@thinkery/sdk";
import { loadConfig } from "../config/load.ts";
import { checkModelAddress, modelVariables, providersIn } from "../config/providers.ts";
import { openHome } from "../home/home.ts";
import { bindAddress, checkExposure } from "../host/address.ts";
import type { HostOptions } from "../host/host.ts";
import { builtParts } from "../host/parts.ts";
import type { Cli } from "./cli.ts";

/** Where the host shall listen, as far as the command line says. */
export interface ListenFlags {
  host?: string;
  port?: number;
  /** Where it listened before; taken when neither a flag nor the configuration says otherwise. */
  lastHost?: string;
  lastPort?: number;
}

export const defaultHost = "127.0.0.1";
export const defaultPort = 5099;

/** Flags, configuration and environment together; everything a person could have got wrong is refused here. */
export async function hostOptions(cli: Cli, flags: ListenFlags): Promise<HostOptions> {
  const home = await openHome(cli.env);
  const { config } = await loadConfig(home.path, cli.cwd);
  const host = bindAddress(flags.host ?? config.host ?? flags.lastHost ?? defaultHost);
  const port = flags.port ?? config.port;
  checkModelAddress(cli.env, cli.cwd);
  const adminToken = cli.env.THINKERY_URL ? undefined : cli.env.THINKERY_TOKEN || undefined;
  checkExposure(host, adminToken);
  return {
    home,
    host,
    port: port ?? flags.lastPort ?? defaultPort,
    portGiven: port !== undefined,
    slots: config.sandboxSlots,
    limits: { failures: config.failuresPerMinute },
    allowedHosts: config.allowedHosts,
    allowedOrigins: config.allowedOrigins,
    ...(adminToken ? { adminToken } : {}),
    providers: providersIn(cli.env, config.providers),
    models: { ...(config.model ? { model: config.model } : {}), providers: config.providers, prices: config.prices },
    modelVariables: modelVariables(cli.env, config.providers),
    turn: config.turn,
    scriptFolders: [home.path, cli.cwd].map((folder) => join(folder, "scripts")),
    parts: builtParts(dirname(cli.entry)),
  };
}

/** A running host keeps its address; whoever asked for another is told how to get it. */
export function noteAddress(cli: Cli, { host, port }: ListenFlags, found: { host: string; port: number }): void {
  const same = (host === undefined || bindAddress(host) === found.host) && (port === undefined || port === found.port);
  if (!same) cli.output.say("It stays at its address; move it with `thinkery restart` and the same options.");
}

export function parsePort(text: string): number {
  const port = Number(text);
  if (!/^\d{1,5}$/.test(text) || port > 65535) {
    throw fail("bad_request", `“${text}” is not a port; give a whole number from 1 to 65535, or 0 for any free one.`);
  }
  return port;
}
