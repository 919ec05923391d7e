import { matchesWildcard } from "@thinkery/sdk/internal";
import type { PolicyAction } from "./evaluate-policy.ts";
import { hasDotSegments, listPathReadings } from "./request-path.ts";

export const methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"] as const;

export type Method = (typeof methods)[number];

/** A request in the URL's canonical spelling. */
interface HttpRequest {
  url: string;
  method: Method;
}

/** A rule's `match` for `fetch`, such as `GET,POST https://*.example.com/v1/*`. */
interface RequestRule {
  /** The methods it names; undefined if it names none. */
  methods?: readonly Method[];
  protocol: string;
  /** In the spelling of URLs. `*` is any host, `*.name` every host below that name. */
  host: string;
  port: string;
  /** The path in each of its readings, with stars. */
  paths: readonly string[];
}

type ParsedRule = { rule: RequestRule; problem?: undefined } | { rule?: undefined; problem: string };

/** A pure function's results, so they never go stale; bounded, because anybody may write rules. */
const maxCachedRules = 1000;
const parsedRules = new Map<string, ParsedRule>();

/** Returns whether a rule's `match` means this request, or undefined if the rule cannot be read. */
export function matchRequest(match: string, request: HttpRequest, action: PolicyAction): boolean | undefined {
  let parsed = parsedRules.get(match);
  if (!parsed) {
    parsed = parseRequestRule(match);
    if (parsedRules.size >= maxCachedRules) parsedRules.clear();
    parsedRules.set(match, parsed);
  }
  return parsed.rule && matchesRule(parsed.rule, request, action);
}

/** The `match` of a rule that would allow this request and its neighbours. */
export function suggestRequestMatch({ url, method }: HttpRequest): string {
  const { origin } = new URL(url);
  return `${method === "GET" || method === "HEAD" ? "" : `${method} `}${origin}/*`;
}

const ruleFormat =
  "expected “[METHOD,… ]https://host[:port]/path”, for example “https://api.example.com/v1/*” or “GET,POST https://*.example.com/*”";

/** Parses a rule's `match`, or says what is wrong with it. Anything ambiguous is wrong. */
export function parseRequestRule(match: string): ParsedRule {
  const [, named, address = ""] = /^(?:(\S+) +)?(\S+)$/.exec(match) ?? [];
  const [, scheme = "", place = "", path] = /^(https?):\/\/([^/]+)(\/.*)?$/i.exec(address) ?? [];
  if (!place || /[@%\\?#]/.test(place) || /\p{Cc}/u.test(match)) return { problem: ruleFormat };
  const words = named === "*" ? methods : named?.split(",");
  const wrong = words?.find((word) => !isMethod(word));
  if (wrong !== undefined)
    return { problem: `“${wrong}” is no method here; there are ${methods.join(", ")}, and * for all of them` };
  if (path === undefined)
    return { problem: "the path is missing: “/*” stands for every path, “/” for the first page alone" };
  if (/[?#]/.test(path))
    return {
      problem: "a rule does not speak of the query: a path that ends with * admits any, every other admits none",
    };
  if (path.includes("\\") || hasDotSegments(path))
    return { problem: "the path of a rule has no “.”, “..” or backslash in it" };
  const where = parseHost(scheme, place);
  if (!where)
    return {
      problem: `“${place}” is no host: a star stands alone, or for all that comes before a name, as in “*.example.com”`,
    };
  const paths = listPathReadings(new URL(`http://host${path}`).pathname);
  return { rule: { ...where, paths, ...(words ? { methods: words.filter(isMethod) } : {}) } };
}

function isMethod(word: string): word is Method {
  return (methods as readonly string[]).includes(word);
}

/** A host and its port, in the spelling that addresses have when they were read. */
function parseHost(scheme: string, place: string): Pick<RequestRule, "protocol" | "host" | "port"> | undefined {
  const [, name = "", port = ""] = /^(\[[^\]]*\]|[^:]+)(:\d+)?$/.exec(place) ?? [];
  const isAny = name === "*";
  const isUnder = name.startsWith("*.");
  // A word in the star's place has the rest checked as part of a name: no number can be an address then.
  const spelled = isAny ? "any" : isUnder ? `any${name.slice(1)}` : name;
  const address = `${scheme}://${spelled}${port}/`;
  if (!spelled || !URL.canParse(address)) return undefined;
  const { protocol, hostname, port: number } = new URL(address);
  if (hostname.includes("*") || (isUnder && !/^any\../.test(hostname))) return undefined;
  return { protocol, port: number, host: isAny ? "*" : isUnder ? `*${hostname.slice("any".length)}` : hostname };
}

/**
 * Does a rule mean this request? To allow, it has to in every reading of it, and without methods it means those that
 * only look. To deny or to ask, one reading is enough, whatever the method and the query.
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
  const under = host.startsWith("*.") ? host.slice(1) : undefined;
  if (under !== undefined) return hostname.endsWith(under) && hostname.length > under.length;
  return host === "*" || hostname === host;
}

/** A name that ends with a dot is the same name to whoever looks it up. */
const stripTrailingDot = (hostname: string) => hostname.replace(/\.$/, "");

/** To many servers, upper and lower case are the same, and a slash at the end is none. */
function matchesPathLoosely(path: string, pattern: string): boolean {
  const [small, like] = [path.toLowerCase(), pattern.toLowerCase()];
  return [small, `${small}/`, small.replace(/\/$/, "")].some((spelling) => matchesWildcard(spelling, like));
}
