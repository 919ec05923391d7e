import net from "node:net";

export interface FlakyProxy {
  port: number;
  /** Bytes passed to clients so far. */
  countPassedBytes(): number;
  /** Connections cut so far. */
  countCuts(): number;
  stop(): void;
}

/**
 * Proxies a server and cuts each connection after the next of these numbers of response bytes, even in the middle of a
 * frame or an event. Later connections are not cut.
 */
export async function openFlakyProxy(target: number, offsets: readonly number[]): Promise<FlakyProxy> {
  const remainingOffsets = [...offsets];
  const sockets = new Set<net.Socket>();
  let passed = 0;
  let cuts = 0;
  const server = net.createServer((client) => {
    const upstream = net.connect(target, "127.0.0.1");
    const limit = remainingOffsets.shift() ?? Number.POSITIVE_INFINITY;
    let seen = 0;
    const end = () => {
      client.destroy();
      upstream.destroy();
    };
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.setNoDelay(true);
      socket.on("error", end);
      socket.on("close", () => {
        end();
        sockets.delete(socket);
      });
    }
    client.pipe(upstream);
    upstream.on("data", (chunk: Buffer) => {
      const rest = limit - seen;
      seen += chunk.length;
      passed += Math.min(rest, chunk.length);
      if (chunk.length < rest) return void client.write(chunk);
      cuts++;
      // Deliver the last bytes, then cut.
      client.write(chunk.subarray(0, rest), end);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as net.AddressInfo).port,
    countPassedBytes: () => passed,
    countCuts: () => cuts,
    stop() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
