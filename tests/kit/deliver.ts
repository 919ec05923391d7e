import { createHmac } from "node:crypto";
import { send, type WireResponse } from "./wire.ts";

export interface Delivery {
  port: number;
  /** The webhook's path. */
  url: string;
  secret: string;
  body?: string | Buffer;
  /** Seconds since 1970; now by default. */
  timestamp?: number;
  headers?: Record<string, string>;
}

export const getNowSeconds = () => Math.floor(Date.now() / 1000);

/** Signs a body as the senders of webhooks do. */
export function sign(secret: string, body: string | Buffer, timestamp = getNowSeconds()): string {
  const signature = createHmac("sha256", secret).update(`${timestamp}.`).update(body).digest("hex");
  return `t=${timestamp},v1=${signature}`;
}

/** Sends a signed request to a webhook, without a token. */
export function deliver({ port, url, secret, body = "{}", timestamp, headers = {} }: Delivery): Promise<WireResponse> {
  return send({
    port,
    method: "POST",
    path: url,
    headers: {
      "content-type": "application/json",
      "x-thinkery-signature": sign(secret, body, timestamp),
      ...headers,
    },
    body,
  });
}
