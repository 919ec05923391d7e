import { type ErrorBody, errorBodySchema, fail } from "@thinkery/sdk";
import {
  type HostStatus,
  hostStatusSchema,
  scriptFileSchema,
  scriptNamesSchema,
  type SlotRenewal,
  slotRenewalSchema,
} from "@thinkery/sdk/internal";
import type { z } from "zod";

/** A binding that takes requests. */
export interface Service {
  fetch: typeof fetch;
}

/** The door to the daemon. On Cloudflare there is none, and what needs it says so. */
export interface Host {
  status(): Promise<HostStatus>;
  shutdown(): Promise<void>;
  /** Names of the scripts in the data folder and the working folder. */
  listScripts(): Promise<string[]>;
  /** One of them, nothing where there is none of that name; one that cannot be read is an error with its line. */
  readScript(name: string): Promise<z.infer<typeof scriptFileSchema> | undefined>;
  /**
   * Ends the slot's process if it is still this generation, and comes back when there is one that is ready for code. With
   * `lost`, the process is believed to be gone already; the answer says how it ended. Generation -1 ends nothing.
   */
  renewSlot(index: number, generation: number, lost: boolean): Promise<SlotRenewal>;
}

export function openHost(service: Service | undefined): Host | undefined {
  if (!service) return undefined;
  const ask = async (path: string, method: "GET" | "POST" = "GET") => {
    const response = await service.fetch(`http://host${path}`, { method });
    if (!response.ok) throw await readDaemonError(response);
    return response;
  };
  return {
    async status() {
      const response = await ask("/status");
      return hostStatusSchema.parse(await response.json());
    },
    async shutdown() {
      await ask("/shutdown", "POST");
    },
    async listScripts() {
      const response = await ask("/scripts");
      return scriptNamesSchema.parse(await response.json()).scripts;
    },
    async readScript(name) {
      const response = await service.fetch(`http://host/script?name=${encodeURIComponent(name)}`);
      if (response.ok) return scriptFileSchema.parse(await response.json());
      if (response.status !== 404) throw await readDaemonError(response);
      await response.body?.cancel();
      return undefined;
    },
    async renewSlot(index, generation, lost) {
      const query = `index=${index}&generation=${generation}${lost ? "&lost=1" : ""}`;
      const response = await service.fetch(`http://host/slots/renew?${query}`, { method: "POST" });
      if (response.ok) return slotRenewalSchema.parse(await response.json());
      const said = await parseErrorBody(response);
      // Why a slot has no process is for whoever wants to run code in it.
      throw said?.code === "unavailable" || said?.code === "not_found"
        ? fail(said.code, said.message)
        : toDaemonError(said);
    },
  };
}

// What the caller got wrong is told in the daemon's own words; everything else is the daemon's trouble.
async function readDaemonError(response: Response): Promise<Error> {
  return toDaemonError(await parseErrorBody(response));
}

function toDaemonError(said: ErrorBody["error"] | undefined): Error {
  if (said?.code === "bad_request" || said?.code === "too_large") return fail(said.code, said.message, said.details);
  return fail("unavailable", "The daemon does not answer its own Worker. Restart the host.");
}

async function parseErrorBody(response: Response): Promise<ErrorBody["error"] | undefined> {
  return errorBodySchema.safeParse(await response.json().catch(() => undefined)).data?.error;
}
