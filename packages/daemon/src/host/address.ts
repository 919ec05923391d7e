import { createServer, isIPv4, isIPv6 } from "node:net";
import { fail } from "@thinkery/sdk";

/** Returns the address to bind: `localhost` means 127.0.0.1, other names are not resolved. */
export function toBindAddress(host: string): string {
  if (host === "localhost") return "127.0.0.1";
  const bare = host.replace(/^\[(.*)\]$/, "$1");
  if (isIPv4(bare) || isIPv6(bare)) return bare;
  throw fail("bad_request", `Cannot listen on “${host}”. Use an IP address such as 127.0.0.1.`);
}

export function isLoopback(address: string): boolean {
  return address === "::1" || (isIPv4(address) && address.startsWith("127."));
}

const minPublicTokenChars = 32;

/** Throws if other machines can reach the address and no sufficiently long token was set explicitly. */
export function checkExposure(address: string, token: string | undefined): void {
  if (isLoopback(address) || (token?.length ?? 0) >= minPublicTokenChars) return;
  throw fail(
    "bad_request",
    `Refusing to listen on ${address}, which other machines can reach, without a token. Set THINKERY_TOKEN to a secret ` +
      `of at least ${minPublicTokenChars} characters, or use --host 127.0.0.1.`,
  );
}

/** Returns the address at which this machine reaches a server bound to `address`. */
export function toReachableAddress(address: string): string {
  if (address === "0.0.0.0") return "127.0.0.1";
  return address === "::" ? "::1" : address;
}

export function toHostUrl(address: string, port: number): string {
  const host = toReachableAddress(address);
  return `http://${isIPv6(host) ? `[${host}]` : host}:${port}`;
}

/** Returns the wanted port, or the next free one unless the port is fixed. */
export async function choosePort(address: string, wanted: number, isFixed: boolean): Promise<number> {
  const last = isFixed ? wanted : Math.min(wanted + 100, 65_535);
  for (let port = wanted; port <= last; port++) {
    const free = await tryPort(address, port);
    if (free !== undefined) return free;
  }
  if (isFixed) throw fail("conflict", `Port ${wanted} is already in use. Choose another with --port.`);
  throw fail("conflict", `Ports ${wanted} to ${last} are all in use. Choose another with --port.`);
}

function tryPort(address: string, port: number): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "EADDRINUSE") resolve(undefined);
      else if (error.code === "EACCES")
        reject(fail("unavailable", `Not permitted to use port ${port}. Choose one above 1023 with --port.`));
      else if (error.code === "EADDRNOTAVAIL")
        reject(fail("bad_request", `Cannot listen on ${address}: this machine does not have that address.`));
      else reject(error);
    });
    server.listen({ host: address, port, exclusive: true }, () => {
      const bound = server.address();
      server.close(() => resolve(typeof bound === "object" && bound ? bound.port : port));
    });
  });
}
