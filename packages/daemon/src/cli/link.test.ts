import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createClient } from "@thinkery/sdk/client";
import { expect, onTestFinished, test } from "vitest";
import { createLoginLink } from "./link.ts";

/** A host whose main is unavailable for the first `failures` requests. */
async function createHost(failures: number, onRequest: () => void = () => {}) {
  let requests = 0;
  const server = createServer((_, response) => {
    requests++;
    onRequest();
    const isAway = requests <= failures;
    response.writeHead(isAway ? 503 : 201, { "content-type": "application/json", connection: "close" });
    response.end(
      JSON.stringify(
        isAway ? { error: { code: "unavailable", message: "Away." } } : { code: "c/1", expiresAt: "later" },
      ),
    );
  });
  onTestFinished(() => void server.close());
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url, client: createClient({ url, token: "t" }), countRequests: () => requests };
}

test("creating a link waits for a restarting main", async () => {
  const connection = await createHost(2);
  expect(await createLoginLink(connection)).toBe(`${connection.url}/#code=c%2F1`);
  expect(connection.countRequests()).toBe(3);
});

test("creating a link does not wait for a host that is stopping", async () => {
  const stopping = new AbortController();
  const connection = await createHost(Number.POSITIVE_INFINITY, () => stopping.abort());
  await expect(createLoginLink(connection, { signal: stopping.signal })).rejects.toThrow();
  expect(connection.countRequests()).toBe(1);
});
