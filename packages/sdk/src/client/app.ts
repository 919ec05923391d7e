import { fail } from "../protocol/errors.ts";
import { routes } from "../protocol/routes.ts";
import { toError, fillPath, type HostFetch } from "./request.ts";

/** Creates the `fetchApp` method of an agent handle. */
export function createAppFetch(fetchHost: HostFetch, params: { agency: string; agent: string }) {
  const root = fillPath(routes.fetchApp.path, params);
  return async (path = "", init: RequestInit = {}): Promise<Response> => {
    const url = root + path.replace(/^\/+/, "");
    // With enough dots, a path could leave the app and take the token along.
    const { pathname } = new URL(url, "http://host");
    if (!pathname.startsWith(root)) throw fail("bad_request", `“${path}” is outside the app.`);
    const response = await fetchHost(url, init);
    if (response.ok || response.headers.has("x-thinkery-app")) return response;
    throw await toError(response);
  };
}
