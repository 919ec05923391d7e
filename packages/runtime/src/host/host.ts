import { fail, type HostStatus, hostStatusSchema } from "@thinkery/sdk";

/** The door to the daemon. On Cloudflare there is none, and what needs it says so. */
export interface Host {
  status(): Promise<HostStatus>;
  shutdown(): Promise<void>;
}

export function openHost(service: Fetcher | undefined): Host | undefined {
  if (!service) return undefined;
  const ask = async (path: string, method: "GET" | "POST") => {
    const response = await service.fetch(`http://host${path}`, { method });
    if (!response.ok) throw fail("unavailable", "The daemon does not answer its own Worker. Restart the host.");
    return response;
  };
  return {
    async status() {
      const response = await ask("/status", "GET");
      return hostStatusSchema.parse(await response.json());
    },
    async shutdown() {
      await ask("/shutdown", "POST");
    },
  };
}
