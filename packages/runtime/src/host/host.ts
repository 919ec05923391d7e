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

/** A binding that accepts requests. */
export interface Service {
  fetch: typeof fetch;
}

/** Client for the daemon. There is none on Cloudflare, where features that need it report so. */
export interface Host {
  status(): Promise<HostStatus>;
  shutdown(): Promise<void>;
  /** Names of the scripts in the data folder and the working folder. */
  listScripts(): Promise<string[]>;
  /** Returns a script, or undefined if there is none of that name. Throws with the line if it is not valid. */
  readScript(name: string): Promise<z.infer<typeof scriptFileSchema> | undefined>;
  /**
   * Ends the slot's process if it is still this generation; resolves when there is a process ready to run code. With
   * `lost`, the process is believed to be gone already; the result says how it ended. Generation -1 ends nothing.
   */
  renewSlot(index: number, generation: number, lost: boolean): Promise<SlotRenewal>;
}

export function openHost(service: Service | undefined): Host | undefined {
  if (!service) return undefined;
  const request = async (path: string, method: "GET" | "POST" = "GET") => {
    const response = await service.fetch(`http://host${path}`, { method });
    if (!response.ok) throw await readDaemonError(response);
    return response;
  };
  return {
    async status() {
      const response = await request("/status");
      return hostStatusSchema.parse(await response.json());
    },
    async shutdown() {
      await request("/shutdown", "POST");
    },
    async listScripts() {
      const response = await request("/scripts");
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
      const error = await parseErrorBody(response);
      // The caller needs to know why the slot has no process.
      throw error?.code === "unavailable" || error?.code === "not_found"
        ? fail(error.code, error.message)
        : toDaemonError(error);
    },
  };
}

// Mistakes of the caller keep the daemon's message; everything else is an internal error of the daemon.
async function readDaemonError(response: Response): Promise<Error> {
  return toDaemonError(await parseErrorBody(response));
}

function toDaemonError(error: ErrorBody["error"] | undefined): Error {
  if (error?.code === "bad_request" || error?.code === "too_large")
    return fail(error.code, error.message, error.details);
  return fail("unavailable", "The daemon returned an unexpected error. Restart the host.");
}

async function parseErrorBody(response: Response): Promise<ErrorBody["error"] | undefined> {
  return errorBodySchema.safeParse(await response.json().catch(() => undefined)).data?.error;
}
