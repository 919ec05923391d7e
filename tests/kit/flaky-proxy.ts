import net from "node:net";

export interface FlakyProxy {
  port: number;
  /** Bytes that came through so far, towards the client. */
  countPassedBytes(): number;
  /** Connections that were cut. */
  countCuts(): number;
  stop(): void;
}

/** A line to a server that breaks after so many bytes of its answers, wherever in a frame or an event that is; then it holds. */
export async function openFlakyProxy(target: number, offsets: readonly number[]): Promise<FlakyProxy> {
  const left = [...offsets];
  const sockets = new Set<net.Socket>();
  let passed = 0;
  let cuts = 0;
  const server = net.createServer((client) => {
    const upstream = net.connect(target, "127.0.0.1");
    const length = left.shift() ?? Number.POSITIVE_INFINITY;
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
      const rest = length - seen;
      seen += chunk.length;
      passed += Math.min(rest, chunk.length);
      if (chunk.length < rest) return void client.write(chunk);
      cuts++;
      // The last bytes reach the client, and then nothing does.
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
