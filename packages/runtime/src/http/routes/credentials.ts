import { endpoints, fail, type Who } from "@thinkery/sdk";
import type { Hono } from "hono";
import type { Env } from "../../objects/env.ts";
import { json, noContent } from "../answer.ts";
import { forget } from "../authenticate.ts";
import { mint, sha256, userOf, userOfId } from "../credentials.ts";
import { type HonoEnv, route } from "../route.ts";

const codeLifetime = 10 * 60;
const loginLifetime = 30 * 86_400;

/** Tokens for programs, and the one-time link that logs the page in. */
export function credentialRoutes(app: Hono<HonoEnv>): void {
  route(app, endpoints.who, ({ caller }) => ({ user: caller.user, scopes: caller.scopes }));

  route(app, endpoints.createLoginCode, async ({ env, caller }) => {
    const minted = mint(caller.user, env.SIGNING_KEY);
    const expiresAt = inSeconds(codeLifetime);
    await env.User.getByName(caller.user).addCredential({
      id: minted.id,
      hash: minted.hash,
      kind: "code",
      name: "login link",
      scopes: caller.scopes,
      expiresAt,
    });
    return { code: minted.secret, expiresAt: new Date(expiresAt).toISOString() };
  });

  route(app, endpoints.login, async ({ env, request, body }) => {
    const user = userOf(body.code, env.SIGNING_KEY);
    const scopes = user && (await env.User.getByName(user).redeemCode(sha256(body.code)));
    if (!user || !scopes) {
      throw fail("unauthorized", "This login link was used already or has expired. Run `thinkery open` for a new one.");
    }
    const cookie = await startLogin(env, { user, scopes }, secure(request));
    return json({ user, scopes } satisfies Who, 200, { "set-cookie": cookie });
  });

  route(app, endpoints.logout, async ({ env, request, caller }) => {
    if (caller.via === "cookie") {
      await env.User.getByName(caller.user).revokeCredential({ hash: caller.hash });
      forget(caller.hash);
    }
    return noContent({ "set-cookie": cookieOf(env, "", 0, secure(request)) });
  });

  route(app, endpoints.listTokens, async ({ env, caller, query }) => ({
    tokens: await env.User.getByName(query.user ?? caller.user).listCredentials(),
  }));

  route(app, endpoints.createToken, async ({ env, caller, body }) => {
    const user = body.user ?? caller.user;
    const minted = mint(user, env.SIGNING_KEY);
    const token = await env.User.getByName(user).addCredential({
      id: minted.id,
      hash: minted.hash,
      kind: "token",
      name: body.name,
      scopes: [...new Set(body.scopes)],
      ...(body.expiresInSeconds ? { expiresAt: inSeconds(body.expiresInSeconds) } : {}),
    });
    return { ...token, token: minted.secret };
  });

  route(app, endpoints.revokeToken, async ({ env, params }) => {
    const user = userOfId(params.id);
    const hash = user && (await env.User.getByName(user).revokeCredential({ id: params.id }));
    if (!hash) throw fail("not_found", "There is no such token.");
    forget(hash);
    return undefined;
  });
}

async function startLogin(env: Env, who: Who, isSecure: boolean): Promise<string> {
  const minted = mint(who.user, env.SIGNING_KEY);
  await env.User.getByName(who.user).addCredential({
    id: minted.id,
    hash: minted.hash,
    kind: "login",
    name: "the page",
    scopes: who.scopes,
    expiresAt: inSeconds(loginLifetime),
  });
  return cookieOf(env, minted.secret, loginLifetime, isSecure);
}

// Browsers share cookies between all ports of a machine, so the name carries ours.
function cookieOf(env: Env, value: string, maxAge: number, isSecure: boolean): string {
  return `${env.COOKIE_NAME}=${value}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${maxAge}${isSecure ? "; Secure" : ""}`;
}

const inSeconds = (seconds: number) => Date.now() + seconds * 1000;

const secure = (request: Request) => new URL(request.url).protocol === "https:";
