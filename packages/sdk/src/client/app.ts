import { fail } from "../protocol/errors.ts";
import { routes } from "../protocol/routes.ts";
import { toError, fillPath, type HostFetch } from "./request.ts";

/** Asks one agent's app. */
export function createAppFetch(send: HostFetch, params: { agency: string; agent: string }) {
  const root = fillPath(routes.fetchApp.path, params);
  return async (path = "", init: RequestInit = {}): Promise<Response> => {
    const address = root + path.replace(/^\/+/, "");
    // With dots enough in it, a path would lead out of the app, and the token with it.
    const { pathname } = new URL(address, "http://host");
    if (!pathname.startsWith(root)) throw fail("bad_request", `“${path}” leads out of the app.`);
    const answer = await send(address, init);
    if (answer.ok || answer.headers.has("x-thinkery-app")) return answer;
    throw await toError(answer);
  };
}
