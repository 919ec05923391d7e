import http from "node:http";
import net from "node:net";

export interface WireResponse {
  status: number;
  headers: http.IncomingHttpHeaders;
  body: string;
}

export interface WireRequest {
  port: number;
  method?: string;
  path: string;
  headers?: Record<string, string>;
  body?: string | Buffer;
  agent?: http.Agent;
}

/** Sends one request with exactly these headers, including the Host header. */
export function send({ port, method = "GET", path, headers = {}, body, agent }: WireRequest): Promise<WireResponse> {
  return new Promise((resolve, reject) => {
    // Node sends the body of a GET or DELETE without a content-length.
    const allHeaders = body === undefined ? headers : { ...headers, "content-length": String(Buffer.byteLength(body)) };
    const request = http.request(
      {
        host: "127.0.0.1",
        port,
        method,
        path,
        headers: allHeaders,
        agent,
        setHost: !hasHost(headers),
        timeout: 20_000,
      },
      (response) => {
        const chunks: Buffer[] = [];
        response.on("data", (chunk: Buffer) => chunks.push(chunk));
        response.on("end", () =>
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            body: Buffer.concat(chunks).toString("utf8"),
          }),
        );
        response.on("error", reject);
      },
    );
    request.on("upgrade", (response, socket) => {
      socket.destroy();
      resolve({ status: response.statusCode ?? 0, headers: response.headers, body: "" });
    });
    request.on("timeout", () => request.destroy(new Error("no response in 20 s")));
    request.on("error", reject);
    request.end(body);
  });
}

const hasHost = (headers: Record<string, string>) => Object.keys(headers).some((name) => name.toLowerCase() === "host");

/** The headers of a WebSocket handshake. */
export const upgradeHeaders = {
  connection: "Upgrade",
  upgrade: "websocket",
  "sec-websocket-version": "13",
  "sec-websocket-key": "dGhpbmtlcnktaXMtaG9tZQ==",
};

/** Sends bytes that need not be HTTP, and returns what came back before the connection ended. */
export function sendBytes(port: number, bytes: Buffer | string): Promise<string> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    const socket = net.connect(port, "127.0.0.1", () => socket.end(bytes));
    const done = () => {
      socket.destroy();
      resolve(Buffer.concat(chunks).toString("latin1"));
    };
    socket.setTimeout(10_000, done);
    socket.on("data", (chunk) => chunks.push(chunk));
    socket.on("error", done);
    socket.on("close", done);
  });
}
