import { expect, test } from "vitest";
import { mintCredential, isSameText, sha256, verifyCredential, parseTokenUser } from "./credentials.ts";

const key = "k".repeat(64);

test("a credential names its user and is only valid for the host that minted it", () => {
  for (const user of ["owner", "a.b-c_d", "x".repeat(64)]) {
    const { secret, id, hash } = mintCredential(user, key);
    expect(verifyCredential(secret, key)).toBe(user);
    expect(verifyCredential(secret, "other".repeat(10))).toBeUndefined();
    expect(hash).toBe(sha256(secret));
    expect(parseTokenUser(id)).toBe(user);
  }
});

test("changing any character invalidates a credential", () => {
  const { secret } = mintCredential("owner", key);
  for (let index = 0; index < secret.length; index++) {
    const changed = secret.slice(0, index) + (secret[index] === "x" ? "y" : "x") + secret.slice(index + 1);
    expect([index, verifyCredential(changed, key)]).toEqual([index, undefined]);
  }
});

test("text that is not a credential is rejected", () => {
  for (const text of [
    "",
    "thk_",
    "thk_a.b.c",
    "x".repeat(10_000),
    "thk_..",
    `${mintCredential("owner", key).secret}x`,
  ]) {
    expect(verifyCredential(text, key)).toBeUndefined();
  }
});

test("credentials are unique", () => {
  expect(mintCredential("owner", key).secret).not.toBe(mintCredential("owner", key).secret);
});

test("isSameText compares exactly", () => {
  expect(isSameText("abc", "abc")).toBe(true);
  for (const other of ["abd", "ab", "abcd", ""]) expect(isSameText("abc", other)).toBe(false);
});
