import { endpoints, fail, getDefaultAgency, type Login, ownerUser, type Who } from "@thinkery/sdk";
import type { Hono } from "hono";
import type { Env } from "../../objects/env.ts";
import { type Caller, forgetCredential, toTicketPath } from "../authenticate.ts";
import { createPageSecret, mintCredential, sha256, verifyCredential, parseTokenUser } from "../credentials.ts";
import { describeBrowser } from "../describe-browser.ts";
import { resolveUser } from "../guard.ts";
import { toJsonResponse, createEmptyResponse } from "../response.ts";
import { type HonoEnv, route } from "../route.ts";
import { expandShortPath } from "../short-path.ts";

const codeLifetimeSeconds = 10 * 60;
const ticketLifetimeSeconds = 60;
const loginLifetimeSeconds = 30 * 86_400;

/** Tokens for programs, and one-time login links for the page. */
export function addCredentialRoutes(app: Hono<HonoEnv>): void {
  route(app, endpoints.who, ({ caller }) => toWho(caller));

  route(app, endpoints.createLoginCode, async ({ env, caller, body }) => {
    const user = await openUser(env, caller, body.user);
    const minted = mintCredential(user, env.SIGNING_KEY);
    const expiresAt = getExpiry(codeLifetimeSeconds);
    await env.User.getByName(user).credentials.add({
      id: minted.id,
      hash: minted.hash,
      kind: "code",
      name: "login link",
      // `admin` includes the others, so every scope is a subset of the caller's.
      scopes: [...new Set(body.scopes ?? caller.scopes)],
      expiresAt,
    });
    return { code: minted.secret, expiresAt: new Date(expiresAt).toISOString() };
  });

  route(app, endpoints.login, async ({ env, request, body }) => {
    const user = verifyCredential(body.code, env.SIGNING_KEY);
    const scopes = user && (await env.User.getByName(user).credentials.redeemCode(sha256(body.code)));
    if (!user || !scopes) {
      throw fail(
        "unauthorized",
        "This login link has already been used or has expired. Run `thinkery open` for a new one.",
      );
    }
    const who = toWho({ user, scopes });
    const { cookie, pageSecret } = await startLogin(env, who, request);
    return toJsonResponse({ ...who, pageSecret } satisfies Login, 200, { "set-cookie": cookie });
  });

  route(app, endpoints.createTicket, async ({ env, caller, body }) => {
    const minted = mintCredential(caller.user, env.SIGNING_KEY);
    const expiresAt = getExpiry(ticketLifetimeSeconds);
    // A link can only read, whatever else the caller may do.
    await env.User.getByName(caller.user).tickets.add({
      hash: minted.hash,
      path: toTicketPath(expandShortPath(body.path, getDefaultAgency(caller.user))),
      scopes: ["read"],
      ...(caller.hash ? { credential: caller.hash } : {}),
      expiresAt,
    });
    return { ticket: minted.secret, expiresAt: new Date(expiresAt).toISOString() };
  });

  route(app, endpoints.logout, async ({ env, request, caller }) => {
    if (caller.via === "cookie" && caller.hash) {
      await env.User.getByName(caller.user).credentials.revoke({ hash: caller.hash });
      forgetCredential(caller.hash);
    }
    return createEmptyResponse({ "set-cookie": createCookie(env, "", 0, isHttps(request)) });
  });

  route(app, endpoints.listTokens, async ({ env, caller, query }) => ({
    tokens: await env.User.getByName(resolveUser(caller, query.user)).credentials.list(caller.hash),
  }));

  route(app, endpoints.createToken, async ({ env, caller, body }) => {
    const user = await openUser(env, caller, body.user);
    const minted = mintCredential(user, env.SIGNING_KEY);
    const token = await env.User.getByName(user).credentials.add({
      id: minted.id,
      hash: minted.hash,
      kind: "token",
      name: body.name,
      scopes: [...new Set(body.scopes)],
      ...(body.expiresInSeconds ? { expiresAt: getExpiry(body.expiresInSeconds) } : {}),
    });
    return { ...token, token: minted.secret };
  });

  route(app, endpoints.revokeToken, async ({ env, caller, params }) => {
    const user = parseTokenUser(params.id);
    const mayRevoke = user === caller.user || caller.user === ownerUser;
    const hash = user && mayRevoke && (await env.User.getByName(user).credentials.revoke({ id: params.id }));
    if (!hash) throw fail("not_found", "Token not found. `thinkery token ls` lists all tokens.");
    forgetCredential(hash);
    return undefined;
  });
}

function toWho({ user, scopes }: Pick<Who, "user" | "scopes">): Who {
  return { user, scopes, agency: getDefaultAgency(user) };
}

/** Returns the user to create a credential for. Another user than the caller is added if there is none. */
async function openUser(env: Env, caller: Caller, name: string | undefined): Promise<string> {
  const user = resolveUser(caller, name);
  if (user !== caller.user) await env.User.getByName(ownerUser).users.ensure(user);
  return user;
}

async function startLogin(env: Env, who: Who, request: Request): Promise<{ cookie: string; pageSecret: string }> {
  const minted = mintCredential(who.user, env.SIGNING_KEY);
  const pageSecret = createPageSecret();
  await env.User.getByName(who.user).credentials.add({
    id: minted.id,
    hash: minted.hash,
    kind: "login",
    name: describeBrowser(request.headers.get("user-agent")),
    scopes: who.scopes,
    expiresAt: getExpiry(loginLifetimeSeconds),
    pageHash: sha256(pageSecret),
  });
  return { cookie: createCookie(env, minted.secret, loginLifetimeSeconds, isHttps(request)), pageSecret };
}

// Browsers share cookies between all ports of a host, so the name contains our port.
function createCookie(env: Env, value: string, maxAge: number, isSecure: boolean): string {
  return `${env.COOKIE_NAME}=${value}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${maxAge}${isSecure ? "; Secure" : ""}`;
}

const getExpiry = (seconds: number) => Date.now() + seconds * 1000;

const isHttps = (request: Request) => new URL(request.url).protocol === "https:";
