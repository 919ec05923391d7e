import { expect, test } from "vitest";
import { mint, isSameText, sha256, verifyCredential, parseTokenUser } from "./credentials.ts";

const key = "k".repeat(64);

test("a credential names its user, and only the host that made it believes that", () => {
  for (const user of ["owner", "a.b-c_d", "x".repeat(64)]) {
    const { secret, id, hash } = mint(user, key);
    expect(verifyCredential(secret, key)).toBe(user);
    expect(verifyCredential(secret, "other".repeat(10))).toBeUndefined();
    expect(hash).toBe(sha256(secret));
    expect(parseTokenUser(id)).toBe(user);
  }
});

test("any changed letter makes it nobody's", () => {
  const { secret } = mint("owner", key);
  for (let index = 0; index < secret.length; index++) {
    const changed = secret.slice(0, index) + (secret[index] === "x" ? "y" : "x") + secret.slice(index + 1);
    expect([index, verifyCredential(changed, key)]).toEqual([index, undefined]);
  }
});

test("what is no credential at all is nobody's", () => {
  for (const text of ["", "thk_", "thk_a.b.c", "x".repeat(10_000), "thk_..", `${mint("owner", key).secret}x`]) {
    expect(verifyCredential(text, key)).toBeUndefined();
  }
});

test("two are never alike", () => {
  expect(mint("owner", key).secret).not.toBe(mint("owner", key).secret);
});

test("texts are the same only when they are", () => {
  expect(isSameText("abc", "abc")).toBe(true);
  for (const other of ["abd", "ab", "abcd", ""]) expect(isSameText("abc", other)).toBe(false);
});
