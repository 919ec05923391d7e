import { fail, findNameIssue, maxPathLength, nameRules } from "@thinkery/sdk";

/** Tells the routes which sub-agent a request is for. Only we set it. */
export const subHeader = "x-thinkery-sub";

const pattern = /^(\/agency\/[^/]+\/agent\/[^/]+)((?:\/sub\/[^/]+)+)(\/.*)?$/s;

/** Splits the path of a sub-agent’s endpoint into that of its root agent’s endpoint, and the names below the agent. */
export function splitSubPath(path: string): { path: string; sub: string[] } {
  const [, agent, names = "", rest = ""] = path.includes("/sub/") ? (pattern.exec(path) ?? []) : [];
  if (agent === undefined) return { path, sub: [] };
  const sub = names.split("/sub/").slice(1).map(decodeName);
  const unknown = sub.find((name) => findNameIssue(nameRules.agent, name)) ?? sub[maxPathLength - 1];
  if (unknown !== undefined) throw fail("not_found", `Sub-agent “${unknown.slice(0, 100)}” not found.`);
  return { path: agent + rest, sub };
}

/** Returns the request for the root agent’s endpoint. Drops what a client may have put into our header. */
export function routeToRoot(request: Request, url: URL): Request {
  const { path, sub } = splitSubPath(url.pathname);
  if (sub.length === 0 && !request.headers.has(subHeader)) return request;
  const headers = new Headers(request.headers);
  if (sub.length > 0) headers.set(subHeader, sub.join("/"));
  else headers.delete(subHeader);
  const routed = new URL(url);
  routed.pathname = path;
  return new Request(new Request(routed, request), { headers });
}

/** Returns the names of the sub-agent that a request is for, from the top; empty if it is for an agent. */
export function readSubPath({ headers }: Request): string[] {
  return headers.get(subHeader)?.split("/") ?? [];
}

function decodeName(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    throw fail("bad_request", "Invalid URL: malformed percent-encoding.");
  }
}
