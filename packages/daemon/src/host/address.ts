import { createServer, isIPv4, isIPv6 } from "node:net";
import { fail } from "@thinkery/sdk";

/** The address to bind: `localhost` means 127.0.0.1, names are not looked up. */
export function toBindAddress(host: string): string {
  if (host === "localhost") return "127.0.0.1";
  const bare = host.replace(/^\[(.*)\]$/, "$1");
  if (isIPv4(bare) || isIPv6(bare)) return bare;
  throw fail("bad_request", `“${host}” is not an address to listen on; give an IP address such as 127.0.0.1.`);
}

export function isLoopback(address: string): boolean {
  return address === "::1" || (isIPv4(address) && address.startsWith("127."));
}

const minPublicTokenChars = 32;

/** An address that others can reach needs a token that was set on purpose. */
export function checkExposure(address: string, token: string | undefined): void {
  if (isLoopback(address) || (token?.length ?? 0) >= minPublicTokenChars) return;
  throw fail(
    "bad_request",
    `Others can reach ${address}: set THINKERY_TOKEN to a secret of at least ${minPublicTokenChars} characters first, ` +
      "or stay on this machine with --host 127.0.0.1.",
  );
}

/** Where this machine reaches what is bound to `address`. */
export function toReachableAddress(address: string): string {
  if (address === "0.0.0.0") return "127.0.0.1";
  return address === "::" ? "::1" : address;
}

export function toHostUrl(address: string, port: number): string {
  const to = toReachableAddress(address);
  return `http://${isIPv6(to) ? `[${to}]` : to}:${port}`;
}

/** The wanted port, or the next free one unless this very port was asked for. */
export async function choosePort(address: string, wanted: number, given: boolean): Promise<number> {
  const last = given ? wanted : Math.min(wanted + 100, 65_535);
  for (let port = wanted; port <= last; port++) {
    const free = await tryPort(address, port);
    if (free !== undefined) return free;
  }
  if (given) throw fail("conflict", `Port ${wanted} is taken by another program. Choose another with --port.`);
  throw fail("conflict", `The ports ${wanted} to ${last} are all taken. Choose another with --port.`);
}

function tryPort(address: string, port: number): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "EADDRINUSE") resolve(undefined);
      else if (error.code === "EACCES")
        reject(fail("unavailable", `Port ${port} needs more rights; choose one above 1023 with --port.`));
      else if (error.code === "EADDRNOTAVAIL")
        reject(fail("bad_request", `This machine does not have the address ${address}.`));
      else reject(error);
    });
    server.listen({ host: address, port, exclusive: true }, () => {
      const bound = server.address();
      server.close(() => resolve(typeof bound === "object" && bound ? bound.port : port));
    });
  });
}
