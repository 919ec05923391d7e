import http from "node:http";
import net, { type AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import type { TestPage } from "./think-page/main.tsx";

export interface Frontend {
  url: string;
  /** Sockets opened through it in total, and those open now. */
  sockets: { opened: number; open: number };
  /** Token it adds to each request; may be replaced. */
  token: string;
  stop(): void;
}

const html =
  '<!doctype html><meta charset="utf-8"><title>A page with the hook</title><div id="root"></div><script type="module" src="/main.js"></script>';

/**
 * A product's backend in frontend of a host: serves its own page, and proxies /thinkery to the host with a token that the
 * browser never sees. `development` uses React's development build.
 */
export async function openFrontend(
  host: { port: number; token: string },
  mode: "development" | "production" = "production",
): Promise<Frontend> {
  const script = await bundlePage(mode);
  const sockets = { opened: 0, open: 0 };
  const openSockets = new Set<net.Socket>();
  const toUpstreamRequest = (request: http.IncomingMessage) => {
    const { origin: _, cookie: __, ...headers } = request.headers;
    const path = (request.url ?? "").replace("/thinkery", "");
    return {
      host: "127.0.0.1",
      port: host.port,
      path,
      method: request.method ?? "GET",
      headers: { ...headers, host: `127.0.0.1:${host.port}`, authorization: `Bearer ${frontend.token}` },
    };
  };
  const server = http.createServer((request, response) => {
    if (request.url === "/main.js")
      return void response.writeHead(200, { "content-type": "text/javascript" }).end(script);
    if (!request.url?.startsWith("/thinkery/"))
      return void response.writeHead(200, { "content-type": "text/html" }).end(html);
    const upstream = http.request(toUpstreamRequest(request), (upstreamResponse) => {
      response.writeHead(upstreamResponse.statusCode ?? 502, upstreamResponse.headers);
      upstreamResponse.pipe(response);
    });
    upstream.on("error", () => response.destroy());
    request.pipe(upstream);
  });
  server.on("connection", (socket) => {
    openSockets.add(socket);
    socket.on("close", () => openSockets.delete(socket));
  });
  server.on("upgrade", (request, client: net.Socket) => {
    const { path, headers } = toUpstreamRequest(request);
    const upstream = net.connect(host.port, "127.0.0.1", () => {
      const lines = Object.entries(headers).map(([name, value]) => `${name}: ${String(value)}`);
      upstream.write(`GET ${path} HTTP/1.1\r\n${lines.join("\r\n")}\r\n\r\n`);
      upstream.pipe(client);
      client.pipe(upstream);
    });
    sockets.opened++;
    sockets.open++;
    openSockets.add(upstream);
    client.on("close", () => {
      sockets.open--;
      upstream.destroy();
    });
    upstream.on("close", () => {
      openSockets.delete(upstream);
      client.destroy();
    });
    for (const socket of [client, upstream]) socket.on("error", () => socket.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const frontend: Frontend = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    sockets,
    token: host.token,
    stop() {
      server.close();
      for (const socket of openSockets) socket.destroy();
    },
  };
  return frontend;
}

async function bundlePage(mode: string): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL("think-page/main.tsx", import.meta.url))],
    bundle: true,
    write: false,
    format: "esm",
    jsx: "automatic",
    minify: mode === "production",
    define: { "process.env.NODE_ENV": JSON.stringify(mode) },
  });
  return outputFiles[0]?.text ?? "";
}

/** The test page's window: the hook's current result and its actions. */
export type PageWindow = { page: TestPage };
