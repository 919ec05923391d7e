import { fail } from "@thinkery/sdk";
import { type Client, createClient } from "@thinkery/sdk/client";
import { locateHome } from "../home/home.ts";
import { readToken } from "../home/token.ts";
import { isLoopback } from "../host/address.ts";
import { findHost, type FoundHost, stopHost } from "../host/discovery.ts";
import type { Cli } from "./cli.ts";
import { toLastFlags } from "./host-options.ts";
import { launchHost } from "./launch.ts";

export interface Connection {
  url: string;
  token: string;
  client: Client;
  /** The custom Worker that main runs; only known for a host on this machine. */
  worker?: string;
}

export const stopTimeoutMs = 15_000;

/** Connects to the host; starts one if none is running. */
export async function connect(cli: Cli): Promise<Connection> {
  return connectRemote(cli) ?? connectLocal(cli, await ensureHost(cli));
}

/** Like `connect`, but never starts or restarts a host. */
export async function connectIfRunning(cli: Cli): Promise<Connection | undefined> {
  const remote = connectRemote(cli);
  if (remote) return remote;
  const host = await findHost(locateHome(cli.env));
  return host && connectLocal(cli, host);
}

// The token of this machine's host is never sent to another host.
function connectRemote(cli: Cli): Connection | undefined {
  const url = cli.env.THINKERY_URL;
  if (!url) return undefined;
  if (!/^https?:\/\//.test(url) || !URL.canParse(url)) {
    throw fail("bad_request", "THINKERY_URL is not a valid URL. Example: http://127.0.0.1:5099");
  }
  const token = cli.env.THINKERY_TOKEN;
  if (!token)
    throw fail("unauthorized", "THINKERY_URL is set but THINKERY_TOKEN is not. Set it to a token of that host.");
  return openConnection(url.replace(/\/+$/, ""), token);
}

async function connectLocal(cli: Cli, host: FoundHost): Promise<Connection> {
  const token = cli.env.THINKERY_TOKEN;
  return token ? openConnection(host.url, token, host.worker) : connectAsOwner(cli, host);
}

/**
 * Connects with the data folder's own token, ignoring THINKERY_TOKEN: a found host has just proved that it knows it.
 */
export async function connectAsOwner(cli: Cli, host: FoundHost): Promise<Connection> {
  const token = await readToken(locateHome(cli.env));
  if (!token)
    throw fail("unauthorized", "No token found in the data folder. Restart the host with `thinkery restart`.");
  return openConnection(host.url, token, host.worker);
}

function openConnection(url: string, token: string, worker?: string): Connection {
  return { url, token, client: createClient({ url, token }), ...(worker ? { worker } : {}) };
}

async function ensureHost(cli: Cli): Promise<FoundHost> {
  const home = locateHome(cli.env);
  const host = await findHost(home);
  if (!host) {
    cli.output.writeMessage("No host is running; starting one.");
    return launchHost(cli, {}, { adoptToken: (await readToken(home)) === undefined });
  }
  if (!isOtherVersion(cli, host)) return host;
  // A custom Worker may have to be updated to the new version first.
  if (!isLoopback(host.host) || host.worker) {
    cli.output.writeMessage(
      `The host is version ${host.version} but this CLI is ${cli.version}. Restart it with \`thinkery restart\`.`,
    );
    return host;
  }
  cli.output.writeMessage(`Restarting the host: it is version ${host.version}, this CLI is ${cli.version}.`);
  await stopHost(home, { timeoutMs: stopTimeoutMs });
  return launchHost(cli, toLastFlags(host), { adoptToken: false });
}

export function isOtherVersion(cli: Cli, host: FoundHost): boolean {
  return cli.version !== undefined && host.version !== cli.version;
}
