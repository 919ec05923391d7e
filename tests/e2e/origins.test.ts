import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createHomePath, type HostProcess, startHostProcess, removeHome } from "../kit/host-process.ts";
import { send } from "../kit/wire.ts";

// A host that is told, in its configuration, of a name and a page that are not its own.

let house: HostProcess;
const friend = "https://friend.example";

beforeAll(async () => {
  const home = await createHomePath();
  await mkdir(home, { mode: 0o700 });
  await writeFile(join(home, "config.jsonc"), `{ "allowedHosts": ["My.House"], "allowedOrigins": ["${friend}"] }`);
  house = await startHostProcess({ home });
});

afterAll(async () => {
  await house?.stop();
  if (house) await removeHome(house.home);
});

const ask = (headers: Record<string, string>, method = "GET", path = "/agents") =>
  send({ port: house.port, path, method, headers });

test("a configured name is answered, in any case", async () => {
  for (const host of ["my.house", "MY.HOUSE:8443"]) {
    expect((await ask({ host }, "GET", "/health")).status).toBe(200);
  }
  expect((await ask({ host: "not-my.house" }, "GET", "/health")).status).toBe(421);
});

test("a configured origin may ask with a token and read the answer, errors included", async () => {
  const host = `127.0.0.1:${house.port}`;
  const before = await ask({ host, origin: friend, "access-control-request-method": "POST" }, "OPTIONS");
  expect(before.status).toBe(204);
  expect(before.headers["access-control-allow-origin"]).toBe(friend);
  expect(before.headers["access-control-allow-headers"]).toContain("authorization");
  expect(before.headers["access-control-allow-credentials"]).toBeUndefined();

  const read = await ask({ host, origin: friend, authorization: `Bearer ${house.token}` });
  expect([read.status, read.headers["access-control-allow-origin"]]).toEqual([200, friend]);
  const refused = await ask({ host, origin: friend });
  expect([refused.status, refused.headers["access-control-allow-origin"]]).toEqual([401, friend]);
});

test("any other origin gets nothing it could read", async () => {
  const host = `127.0.0.1:${house.port}`;
  for (const origin of ["https://friend.example.evil", "http://friend.example", "null"]) {
    for (const method of ["OPTIONS", "GET"]) {
      const answer = await ask({ host, origin, "access-control-request-method": "GET" }, method);
      expect([answer.status, answer.headers["access-control-allow-origin"]]).toEqual([403, undefined]);
    }
  }
});
