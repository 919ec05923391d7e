import { WebSocket } from "ws";
import { WebsocketProvider } from "y-websocket";
import * as Y from "yjs";
import type { HostProcess } from "../../tests/kit/host-process.ts";
import { waitUntil } from "../../tests/kit/wait-until.ts";

/** Connects to the live document of an agent's files. */
function connect(
  { url, token }: HostProcess,
  agent: string,
): { doc: Y.Doc; provider: WebsocketProvider; close(): void } {
  class Authorized extends WebSocket {
    constructor(address: string, protocols?: string | string[]) {
      super(address, protocols, { headers: { authorization: `Bearer ${token}` } });
    }
  }
  const doc = new Y.Doc();
  const provider = new WebsocketProvider(`${url.replace("http", "ws")}/agency/global/agent/${agent}`, "yjs", doc, {
    WebSocketPolyfill: Authorized as never,
    disableBc: true,
  });
  return {
    doc,
    provider,
    close() {
      provider.destroy();
      doc.destroy();
    },
  };
}

const waitForSync = (provider: WebsocketProvider) =>
  new Promise<void>((resolve) => (provider.synced ? resolve() : provider.once("sync", () => resolve())));

/** Connects to an agent's files, waits until they are synced and disconnects. */
export async function connectAndSync(host: HostProcess, agent: string): Promise<void> {
  const { provider, close } = connect(host, agent);
  await waitForSync(provider);
  close();
}

/** Replaces words at different places, as people do. */
export async function typeEdits(host: HostProcess, agent: string, times: number): Promise<void> {
  const { doc, provider, close } = connect(host, agent);
  await waitForSync(provider);
  const text = new Y.Text("some words of a line that is edited\n".repeat(600));
  doc.getMap("files").set("edited.ts", text);
  for (let number = 0; number < times; number++) {
    const at = (number * 7919) % (text.length - 20);
    doc.transact(() => {
      text.delete(at, 4);
      text.insert(at, String(number % 10_000).padStart(4, "0"));
    });
    if (number % 100 === 99) await new Promise((resolve) => setImmediate(resolve));
  }
  const expected = text.toString();
  await waitUntil(
    "the host to have it",
    async () => (await host.client.agent(agent).file("edited.ts")).text() === expected,
    { timeoutMs: 60_000, intervalMs: 100 },
  );
  close();
}
