import { matchesWildcard } from "@thinkery/sdk/internal";
import type { PolicyAction } from "./evaluate-policy.ts";
import { hasDotSegments, listPathReadings } from "./request-path.ts";

export const methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"] as const;

export type Method = (typeof methods)[number];

/** A request whose URL is normalized. */
interface HttpRequest {
  url: string;
  method: Method;
}

/** A rule's `match` for `fetch`, such as `GET,POST https://*.example.com/v1/*`. */
interface RequestRule {
  /** The methods it names; undefined if it names none. */
  methods?: readonly Method[];
  protocol: string;
  /** As normalized by `URL`. `*` is any host, `*.name` every subdomain of that name. */
  host: string;
  port: string;
  /** The path pattern in each of its readings. */
  paths: readonly string[];
}

type ParsedRule = { rule: RequestRule; issue?: undefined } | { rule?: undefined; issue: string };

/** Caches a pure function, so entries never go stale; bounded, because anyone may write rules. */
const maxCachedRules = 1000;
const parsedRules = new Map<string, ParsedRule>();

/** Returns whether a rule's `match` applies to this request, or undefined if the rule is not valid. */
export function matchRequest(match: string, request: HttpRequest, action: PolicyAction): boolean | undefined {
  let parsed = parsedRules.get(match);
  if (!parsed) {
    parsed = parseRequestRule(match);
    if (parsedRules.size >= maxCachedRules) parsedRules.clear();
    parsedRules.set(match, parsed);
  }
  return parsed.rule && matchesRule(parsed.rule, request, action);
}

/** Returns the `match` of a rule that would allow this request and others to the same origin. */
export function suggestRequestMatch({ url, method }: HttpRequest): string {
  const { origin } = new URL(url);
  return `${method === "GET" || method === "HEAD" ? "" : `${method} `}${origin}/*`;
}

const ruleFormat =
  "expected “[METHOD,… ]https://host[:port]/path”, for example “https://api.example.com/v1/*” or “GET,POST https://*.example.com/*”";

/** Parses a rule's `match`, or returns what is wrong with it. Anything ambiguous is rejected. */
export function parseRequestRule(match: string): ParsedRule {
  const [, methodList, address = ""] = /^(?:(\S+) +)?(\S+)$/.exec(match) ?? [];
  const [, scheme = "", authority = "", path] = /^(https?):\/\/([^/]+)(\/.*)?$/i.exec(address) ?? [];
  if (!authority || /[@%\\?#]/.test(authority) || /\p{Cc}/u.test(match)) return { issue: ruleFormat };
  const names = methodList === "*" ? methods : methodList?.split(",");
  const unknown = names?.find((name) => !isMethod(name));
  if (unknown !== undefined)
    return { issue: `unknown method “${unknown}”; expected ${methods.join(", ")}, or * for all of them` };
  if (path === undefined) return { issue: "the path is missing; “/*” matches every path, “/” only the root" };
  if (/[?#]/.test(path))
    return {
      issue: "a rule cannot contain a query; a path that ends with * allows any query, other paths allow none",
    };
  if (path.includes("\\") || hasDotSegments(path)) return { issue: "the path cannot contain “.”, “..” or a backslash" };
  const target = parseHost(scheme, authority);
  if (!target)
    return {
      issue: `“${authority}” is not a valid host; * must stand alone or for the subdomains of a name, as in “*.example.com”`,
    };
  const paths = listPathReadings(new URL(`http://host${path}`).pathname);
  return { rule: { ...target, paths, ...(names ? { methods: names.filter(isMethod) } : {}) } };
}

function isMethod(name: string): name is Method {
  return (methods as readonly string[]).includes(name);
}

/** Parses a host pattern and port, normalized as `URL` normalizes them. */
function parseHost(scheme: string, authority: string): Pick<RequestRule, "protocol" | "host" | "port"> | undefined {
  const [, name = "", port = ""] = /^(\[[^\]]*\]|[^:]+)(:\d+)?$/.exec(authority) ?? [];
  const isAny = name === "*";
  const isSubdomains = name.startsWith("*.");
  // A word in place of the star makes URL parse the rest as part of a name, so that numbers cannot form an IP address.
  const hostToParse = isAny ? "any" : isSubdomains ? `any${name.slice(1)}` : name;
  const address = `${scheme}://${hostToParse}${port}/`;
  if (!hostToParse || !URL.canParse(address)) return undefined;
  const { protocol, hostname, port: number } = new URL(address);
  if (hostname.includes("*") || (isSubdomains && !/^any\../.test(hostname))) return undefined;
  return { protocol, port: number, host: isAny ? "*" : isSubdomains ? `*${hostname.slice("any".length)}` : hostname };
}

/**
 * Returns whether a rule applies to a request. To allow, it must match every reading of the path, and without methods
 * it covers GET and HEAD only. To deny or ask, one reading is enough; without methods it covers all, with any query.
 */
function matchesRule(rule: RequestRule, { url, method }: HttpRequest, action: PolicyAction): boolean {
  const address = new URL(url);
  if (rule.protocol !== address.protocol || rule.port !== address.port) return false;
  return action === "allow" ? matchesExactly(rule, address, method) : matchesLoosely(rule, address, method);
}

function matchesExactly(rule: RequestRule, { hostname, pathname, search }: URL, method: Method): boolean {
  const [path = ""] = rule.paths;
  if (!(rule.methods ?? ["GET", "HEAD"]).includes(method) || !matchesHost(hostname, rule.host)) return false;
  if (search !== "" && !path.endsWith("*")) return false;
  return (
    path === "/*" ||
    (!hasDotSegments(pathname) &&
      listPathReadings(pathname).every((reading, index) => matchesWildcard(reading, rule.paths[index] ?? "")))
  );
}

function matchesLoosely(rule: RequestRule, { hostname, pathname }: URL, method: Method): boolean {
  if (
    !(rule.methods ?? methods).includes(method) ||
    !matchesHost(stripTrailingDot(hostname), stripTrailingDot(rule.host))
  )
    return false;
  return (
    hasDotSegments(pathname) ||
    listPathReadings(pathname).some((reading, index) => matchesPathLoosely(reading, rule.paths[index] ?? ""))
  );
}

function matchesHost(hostname: string, host: string): boolean {
  const suffix = host.startsWith("*.") ? host.slice(1) : undefined;
  if (suffix !== undefined) return hostname.endsWith(suffix) && hostname.length > suffix.length;
  return host === "*" || hostname === host;
}

/** A trailing dot makes no difference in DNS. */
const stripTrailingDot = (hostname: string) => hostname.replace(/\.$/, "");

/** Many servers ignore case and a trailing slash. */
function matchesPathLoosely(path: string, pattern: string): boolean {
  const lowerPath = path.toLowerCase();
  const variants = [lowerPath, `${lowerPath}/`, lowerPath.replace(/\/$/, "")];
  return variants.some((variant) => matchesWildcard(variant, pattern.toLowerCase()));
}
