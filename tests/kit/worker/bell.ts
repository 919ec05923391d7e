import http from "node:http";
import type { AddressInfo } from "node:net";

export interface Ring {
  tool: string;
  id: string;
  callId: string;
}

export interface Bell {
  url: string;
  /** Every ring received, whether or not it was answered. */
  rings: Ring[];
  /** Called for each ring; the response waits for it. */
  onRing: (ring: Ring) => void | Promise<void>;
  stop(): Promise<void>;
}

/**
 * An HTTP server that counts the side effects of tools. It runs in the test process, so it survives kills of the host.
 */
export async function openBell(): Promise<Bell> {
  const bell: Bell = { url: "", rings: [], onRing: () => {}, stop };
  const server = http.createServer(async (request, response) => {
    response.on("error", () => {});
    try {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const ring = JSON.parse(Buffer.concat(chunks).toString()) as Ring;
      bell.rings.push(ring);
      await bell.onRing(ring);
      response.end(`rang ${ring.id}`);
    } catch {
      response.destroy();
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  bell.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return bell;

  function stop(): Promise<void> {
    return new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  }
}
