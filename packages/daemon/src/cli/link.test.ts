import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createClient } from "@thinkery/sdk/client";
import { expect, onTestFinished, test } from "vitest";
import { createLoginLink } from "./link.ts";

/** A host whose main is away for the first `refusals` requests. */
async function createHost(refusals: number, onRequest: () => void = () => {}) {
  let asked = 0;
  const server = createServer((_, response) => {
    asked++;
    onRequest();
    const away = asked <= refusals;
    response.writeHead(away ? 503 : 201, { "content-type": "application/json", connection: "close" });
    response.end(
      JSON.stringify(away ? { error: { code: "unavailable", message: "Away." } } : { code: "c/1", expiresAt: "later" }),
    );
  });
  onTestFinished(() => void server.close());
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url, client: createClient({ url, token: "t" }), asked: () => asked };
}

test("a main that is restarting is waited for", async () => {
  const connection = await createHost(2);
  expect(await createLoginLink(connection)).toBe(`${connection.url}/#code=c%2F1`);
  expect(connection.asked()).toBe(3);
});

test("a host that is being stopped is not", async () => {
  const stopping = new AbortController();
  const connection = await createHost(Number.POSITIVE_INFINITY, () => stopping.abort());
  await expect(createLoginLink(connection, stopping.signal)).rejects.toThrow();
  expect(connection.asked()).toBe(1);
});
