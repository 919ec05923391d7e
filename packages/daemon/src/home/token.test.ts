import { chmodSync, readFileSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { createTempHome } from "../host/fixture.ts";
import { ensureSigningKey, ensureToken, readToken } from "./token.ts";

test("a 256-bit token is created once and only its owner can read it", async () => {
  const home = await createTempHome();
  expect(await readToken(home)).toBeUndefined();
  const token = await ensureToken(home);
  expect(token).toMatch(/^[0-9a-f]{64}$/);
  expect(await ensureToken(home)).toBe(token);
  expect(await readToken(home)).toBe(token);
  expect(statSync(home.tokenFile).mode & 0o777).toBe(0o600);
});

test("concurrent starts end with one token and leave no drafts", async () => {
  const home = await createTempHome();
  const tokens = await Promise.all(Array.from({ length: 20 }, () => ensureToken(home)));
  expect(new Set(tokens).size).toBe(1);
  expect(readFileSync(home.tokenFile, "utf8").trim()).toBe(tokens[0]);
  expect(readdirSync(home.path).filter((name) => name.startsWith("token"))).toEqual(["token"]);
});

test("a given token replaces the stored one", async () => {
  const home = await createTempHome();
  await ensureToken(home);
  const given = "a-token-that-somebody-chose";
  expect(await ensureToken(home, given)).toBe(given);
  expect(await readToken(home)).toBe(given);
  expect(statSync(home.tokenFile).mode & 0o777).toBe(0o600);
});

test("a given token that is too short or does not fit in a header is rejected", async () => {
  const home = await createTempHome();
  for (const given of ["", "short", "with spaces in it, many", "line\nbreak-line\nbreak"]) {
    await expect(ensureToken(home, given)).rejects.toMatchObject({ code: "bad_request" });
  }
  expect(await readToken(home)).toBeUndefined();
});

test("the permissions of a token file that others can read are tightened", async () => {
  const home = await createTempHome();
  await ensureToken(home);
  chmodSync(home.tokenFile, 0o644);
  await readToken(home);
  expect(statSync(home.tokenFile).mode & 0o777).toBe(0o600);
});

test("an empty or damaged token file is an error and is not changed", async () => {
  const home = await createTempHome();
  for (const damage of ["", "\n", "abc", "\0".repeat(64)]) {
    writeFileSync(home.tokenFile, damage);
    await expect(readToken(home)).rejects.toMatchObject({ code: "unavailable" });
    await expect(ensureToken(home)).rejects.toMatchObject({ code: "unavailable" });
    expect(readFileSync(home.tokenFile, "utf8")).toBe(damage);
  }
});

test("the signing key is a separate secret, created once", async () => {
  const home = await createTempHome();
  const [key, again] = await Promise.all([ensureSigningKey(home), ensureSigningKey(home)]);
  expect(key).toMatch(/^[0-9a-f]{64}$/);
  expect(again).toBe(key);
  expect(key).not.toBe(await ensureToken(home));
});
