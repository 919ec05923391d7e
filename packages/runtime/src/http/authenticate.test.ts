import { expect, test } from "vitest";
import type { Env } from "../objects/env.ts";
import { authenticate, forgetCredential, forgetCredentials } from "./authenticate.ts";
import { mintCredential } from "./credentials.ts";

const signingKey = "k".repeat(64);

/** An environment whose user knows one credential until it is revoked. `onChecked` runs after it was found valid. */
function createEnv(onChecked: (revoke: () => void) => void): Env {
  let isValid = true;
  const credentials = {
    async check() {
      const found = isValid ? { kind: "token", scopes: ["read"], requests: 100 } : undefined;
      if (found) onChecked(() => (isValid = false));
      return found;
    },
  };
  const env = { SIGNING_KEY: signingKey, ADMIN_TOKEN_HASH: "x", COOKIE_NAME: "c" };
  return { ...env, User: { getByName: () => ({ credentials }) } } as unknown as Env;
}

test.each([
  ["a token", (hash: string) => forgetCredential(hash)],
  ["the tokens of a user", () => forgetCredentials("bob")],
])("%s revoked while a request is checked is not valid for the next one", async (_, forget) => {
  const { secret, hash } = mintCredential("bob", signingKey);
  const env = createEnv((revoke) => {
    revoke();
    forget(hash);
  });
  const request = () => new Request("http://host/", { headers: { authorization: `Bearer ${secret}` } });
  expect(await authenticate(request(), env)).toMatchObject({ user: "bob" });
  expect(await authenticate(request(), env)).toBeUndefined();
});

test("a token that was found valid is not checked again at once", async () => {
  const { secret } = mintCredential("bob", signingKey);
  let checks = 0;
  const env = createEnv(() => void checks++);
  const request = () => new Request("http://host/", { headers: { authorization: `Bearer ${secret}` } });
  for (let count = 0; count < 100; count++) expect(await authenticate(request(), env)).toMatchObject({ user: "bob" });
  expect(checks).toBe(1);
});
