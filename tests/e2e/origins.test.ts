import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createHomePath, type HostProcess, startHostProcess, removeHome } from "../kit/host-process.ts";
import { send } from "../kit/wire.ts";

// `allowedHosts` and `allowedOrigins`.

let hostProcess: HostProcess;
const allowedOrigin = "https://friend.example";

beforeAll(async () => {
  const home = await createHomePath();
  await mkdir(home, { mode: 0o700 });
  await writeFile(
    join(home, "config.jsonc"),
    `{ "allowedHosts": ["My.Example"], "allowedOrigins": ["${allowedOrigin}"] }`,
  );
  hostProcess = await startHostProcess({ home });
});

afterAll(async () => {
  await hostProcess?.stop();
  if (hostProcess) await removeHome(hostProcess.home);
});

const request = (headers: Record<string, string>, method = "GET", path = "/agents") =>
  send({ port: hostProcess.port, path, method, headers });

test("a configured host name is accepted in any case", async () => {
  for (const host of ["my.example", "MY.EXAMPLE:8443"]) {
    expect((await request({ host }, "GET", "/health")).status).toBe(200);
  }
  expect((await request({ host: "not-my.example" }, "GET", "/health")).status).toBe(421);
});

test("a configured origin may send requests with a token and read the responses, including errors", async () => {
  const host = `127.0.0.1:${hostProcess.port}`;
  const preflight = await request({ host, origin: allowedOrigin, "access-control-request-method": "POST" }, "OPTIONS");
  expect(preflight.status).toBe(204);
  expect(preflight.headers["access-control-allow-origin"]).toBe(allowedOrigin);
  expect(preflight.headers["access-control-allow-headers"]).toContain("authorization");
  expect(preflight.headers["access-control-allow-credentials"]).toBeUndefined();

  const read = await request({ host, origin: allowedOrigin, authorization: `Bearer ${hostProcess.token}` });
  expect([read.status, read.headers["access-control-allow-origin"]]).toEqual([200, allowedOrigin]);
  const unauthorized = await request({ host, origin: allowedOrigin });
  expect([unauthorized.status, unauthorized.headers["access-control-allow-origin"]]).toEqual([401, allowedOrigin]);
});

test("any other origin is rejected without CORS headers", async () => {
  const host = `127.0.0.1:${hostProcess.port}`;
  for (const origin of ["https://friend.example.evil", "http://friend.example", "null"]) {
    for (const method of ["OPTIONS", "GET"]) {
      const response = await request({ host, origin, "access-control-request-method": "GET" }, method);
      expect([response.status, response.headers["access-control-allow-origin"]]).toEqual([403, undefined]);
    }
  }
});
