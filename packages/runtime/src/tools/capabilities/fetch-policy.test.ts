import { Redactor } from "@thinkery/sdk/internal";
import { describe, expect, test } from "vitest";
import { evaluatePolicy } from "../../policy/evaluate-policy.ts";
import { createFetchCapability } from "./fetch.ts";

// From the input of `fetch` to the policy's verdict, in the same two steps as a real call.

const fetchTool = createFetchCapability(
  () => Promise.reject(new Error("This test sends no requests.")),
  new Redactor([]).redactLog,
);

type Action = "deny" | "ask" | "allow";
type Verdict = Action | "invalid";

function evaluate(
  policy: { tool?: string; match?: string; action: Action }[],
  request: string,
): { action: Verdict; reason: string } {
  const [, method, url] = /^([A-Z]+) (.*)$/s.exec(request) ?? ["", undefined, request];
  const { success, data } = fetchTool.inputSchema.safeParse({ url, ...(method ? { method } : {}) });
  return success
    ? evaluatePolicy({ policy: policy.map((rule) => ({ tool: "fetch", ...rule })) }, { tool: fetchTool, input: data })
    : { action: "invalid", reason: "" };
}

const api = "https://api.example.com/*";
const sub = "https://*.example.com/*";
const open = "https://x.org/public/*";

const allowing: [match: string, request: string, verdict: Verdict][] = [
  // Intended matches.
  [api, "https://api.example.com/", "allow"],
  [api, "https://api.example.com", "allow"],
  [api, "https://api.example.com/v1/users?page=2&q=a/b", "allow"],
  [api, "https://api.example.com/v1#part", "allow"],
  [api, "HEAD https://api.example.com/v1", "allow"],
  [api, "https://api.example.com:443/v1", "allow"],
  ["https://api.example.com:443/*", "https://api.example.com/v1", "allow"],
  ["http://api.example.com:80/*", "http://api.example.com/", "allow"],
  [api, "HTTPS://API.EXAMPLE.COM/v1", "allow"],
  ["HTTPS://API.Example.COM/*", "https://api.example.com/v1", "allow"],
  // Other methods.
  [api, "POST https://api.example.com/v1", "deny"],
  [api, "OPTIONS https://api.example.com/v1", "deny"],
  ["GET https://api.example.com/*", "HEAD https://api.example.com/v1", "deny"],
  ["GET,POST https://api.example.com/*", "POST https://api.example.com/v1", "allow"],
  ["GET,POST https://api.example.com/*", "PUT https://api.example.com/v1", "deny"],
  ["POST https://api.example.com/*", "GET https://api.example.com/v1", "deny"],
  ["* https://api.example.com/*", "DELETE https://api.example.com/v1", "allow"],
  ["* https://api.example.com/*", "PURGE https://api.example.com/v1", "invalid"],
  // Lookalike hosts.
  [api, "https://api.example.com.evil.org/", "deny"],
  [api, "https://api.example.com@evil.org/", "invalid"],
  [api, "https://api.example.com:443@evil.org/", "invalid"],
  [api, "https://api.example.com%40evil.org/", "invalid"],
  [api, "https://evil.org/?https://api.example.com/", "deny"],
  [api, "https://evil.org/https://api.example.com/", "deny"],
  [api, "https://evil.org#https://api.example.com/", "deny"],
  [api, "https://evil.org\\@api.example.com/", "deny"],
  [api, "https://evil.org/@api.example.com/", "deny"],
  [api, "https://api.example.com\\.evil.org/", "allow"], // A backslash counts as a slash: this requests /.evil.org
  ["https://api.example.com/v1/*", "https://api.example.com\\v2", "deny"],
  [api, "https://evilapi.example.com/", "deny"],
  [api, "https://api-example.com/", "deny"],
  [api, "https://apiXexample.com/", "deny"],
  [api, "https://example.com/", "deny"],
  [api, "https://x.api.example.com/", "deny"],
  [api, "https://api.example.com./", "deny"],
  ["https://api.example.com./*", "https://api.example.com/", "deny"],
  [api, "https://api.exa\tmple.com/", "allow"], // Tabs are removed from URLs.
  [api, "https://api。example.com/", "allow"], // Any Unicode full stop counts as a dot.
  [api, "https://аpi.example.com/", "deny"], // The first letter is Cyrillic.
  [api, "https://api%2eexample.com/", "allow"],
  ["https://bücher.example/*", "https://xn--bcher-kva.example/", "allow"],
  ["https://xn--bcher-kva.example/*", "https://BÜCHER.example/", "allow"],
  ["https://bücher.example/*", "https://bucher.example/", "deny"],
  // Other schemes and ports.
  [api, "http://api.example.com/", "deny"],
  ["http://api.example.com/*", "https://api.example.com/", "deny"],
  [api, "https://api.example.com:8443/", "deny"],
  [api, "http://api.example.com:443/", "deny"],
  ["https://api.example.com:8443/*", "https://api.example.com:8443/x", "allow"],
  ["https://api.example.com:8443/*", "https://api.example.com/x", "deny"],
  [api, "ftp://api.example.com/", "invalid"],
  [api, "wss://api.example.com/", "invalid"],
  [api, "file:///etc/passwd", "invalid"],
  [api, "blob:https://api.example.com/x", "invalid"],
  [api, "//api.example.com/", "invalid"],
  // Subdomains.
  [sub, "https://api.example.com/", "allow"],
  [sub, "https://a.b.example.com/", "allow"],
  [sub, "https://example.com/", "deny"],
  [sub, "https://.example.com/", "deny"],
  ["https://.example.com/*", "https://api.example.com/", "deny"],
  [sub, "https://evilexample.com/", "deny"],
  [sub, "https://a.example.com.evil.org/", "deny"],
  [sub, "https://evil.org/.example.com/", "deny"],
  [sub, "https://a.example.com./", "deny"],
  [sub, "https://a.example.com:8443/", "deny"],
  ["https://*/*", "https://anything.at.all/x", "allow"],
  ["https://*/*", "http://anything.at.all/x", "deny"],
  ["https://*/*", "https://[::1]/x", "allow"],
  ["http://*:8080/*", "http://one:8080/", "allow"],
  ["http://*:8080/*", "http://one:8081/", "deny"],
  // Numeric addresses are normalized.
  ["http://127.0.0.1:8080/*", "http://0x7f.1:8080/", "allow"],
  ["http://127.0.0.1:8080/*", "http://127.0.0.1.nip.io:8080/", "deny"],
  ["http://localhost:8080/*", "http://127.0.0.1:8080/", "deny"],
  ["http://[::1]:8080/*", "http://[0:0:0:0:0:0:0:1]:8080/", "allow"],
  ["http://[::1]:8080/*", "http://[::2]:8080/", "deny"],
  // Paths.
  [open, "https://x.org/public/a/b", "allow"],
  [open, "https://x.org/public/", "allow"],
  [open, "https://x.org/public", "deny"],
  [open, "https://x.org/publicity", "deny"],
  [open, "https://x.org/PUBLIC/a", "deny"],
  [open, "https://x.org/public/../admin", "deny"],
  [open, "https://x.org/public/%2e%2e/admin", "deny"],
  [open, "https://x.org/public/.%2E/admin", "deny"],
  [open, "https://x.org/public/..\\admin", "deny"],
  [open, "https://x.org/public\\..\\admin", "deny"],
  [open, "https://x.org/public/..%2fadmin", "deny"],
  [open, "https://x.org/public/..%5cadmin", "deny"],
  [open, "https://x.org/public/%2e%2e%2fadmin", "deny"],
  [open, "https://x.org/public/%252e%252e%252fadmin", "deny"],
  [open, "https://x.org/public/%25252e%25252e/admin", "deny"],
  [open, "https://x.org/public/%%32e%%32e/admin", "deny"],
  [open, "https://x.org/public/..%2fadmin%252f..%252fpublic/x", "deny"],
  [open, "https://x.org/public/..;/admin", "deny"],
  [open, "https://x.org/public/..;x=1/admin", "deny"],
  [open, "https://x.org/public//%2e%2e%2fadmin", "deny"],
  [open, "https://x.org/a/../public/x", "allow"],
  [open, "https://x.org/public/a%2Fb", "allow"],
  [open, "https://x.org/public/a%20b..c/...", "allow"],
  [open, "https://x.org/public/?next=/../admin", "allow"],
  [open, "https://x.org//public/x", "deny"],
  ["https://x.org/*", "https://x.org/public/..%2fadmin", "allow"],
  ["https://x.org/a", "https://x.org/a", "allow"],
  ["https://x.org/a", "https://x.org/a?b=c", "deny"],
  ["https://x.org/a", "https://x.org/a/", "deny"],
  ["https://x.org/a", "https://x.org/ab", "deny"],
  ["https://x.org/", "https://x.org/?b", "deny"],
  ["https://x.org/a*", "https://x.org/a?b=c", "allow"],
  ["https://x.org/*/raw", "https://x.org/me/it/raw", "allow"],
  ["https://x.org/*/raw", "https://x.org/me/it?/raw", "deny"],
  ["https://x.org/*/raw", "https://x.org/me/it/raw?x=1", "deny"],
  ["https://x.org/*.json", "https://x.org/secret?.json", "deny"],
  ["https://x.org/*.json", "https://x.org/secret#.json", "deny"],
  ["https://x.org/a.b", "https://x.org/aXb", "deny"],
  ["https://x.org/caf%C3%A9/*", "https://x.org/café/x", "allow"],
  ["https://x.org/café/*", "https://x.org/caf%C3%A9/x", "allow"],
  ["https://x.org/me%2Fit/*", "https://x.org/me%2Fit/x", "allow"],
  ["https://x.org/me%2Fit/*", "https://x.org/me/it/x", "deny"],
  ["https://x.org/me/it/*", "https://x.org/me%2Fit/x", "deny"],
  ["https://x.org/%2A", "https://x.org/secret", "deny"],
  // Invalid rules allow nothing.
  ["", "https://x.org/", "deny"],
  ["*", "https://x.org/", "deny"],
  ["x.org", "https://x.org/", "deny"],
  ["https://x.org", "https://x.org/", "deny"],
  ["https://*", "https://x.org/", "deny"],
  ["*://x.org/*", "https://x.org/", "deny"],
  ["ftp://x.org/*", "https://x.org/", "deny"],
  ["https://x*.org/*", "https://x.org/", "deny"],
  ["https://*x.org/*", "https://x.org/", "deny"],
  ["https://*.*.org/*", "https://a.x.org/", "deny"],
  ["https://x.*/*", "https://x.org/", "deny"],
  ["https://*.0.0.1/*", "https://127.0.0.1/", "deny"],
  ["https://*./*", "https://x./", "deny"],
  ["https://x.org:*/*", "https://x.org/", "deny"],
  ["https://x.org:/*", "https://x.org/", "deny"],
  ["https://x.org:99999/*", "https://x.org/", "deny"],
  ["https://me@x.org/*", "https://x.org/", "deny"],
  ["https://x.org\\@y.org/*", "https://x.org/", "deny"],
  ["https://x.org/a/../*", "https://x.org/", "deny"],
  ["https://x.org/a/%2e%2e/*", "https://x.org/", "deny"],
  ["https://x.org/?*", "https://x.org/?a", "deny"],
  ["https://x.org/#*", "https://x.org/", "deny"],
  ["get https://x.org/*", "https://x.org/", "deny"],
  ["GET, POST https://x.org/*", "https://x.org/", "deny"],
  ["GET,* https://x.org/*", "https://x.org/", "deny"],
  ["GET,FETCH https://x.org/*", "https://x.org/", "deny"],
  ["GET POST https://x.org/*", "https://x.org/", "deny"],
  [" https://x.org/*", "https://x.org/", "deny"],
  ["https://x.org/* https://y.org/*", "https://x.org/", "deny"],
];

describe("a single allow rule", () => {
  test.each(allowing)("%j, requesting %j: %s", (match, request, expected) => {
    const { action, reason } = evaluate([{ match, action: "allow" }], request);
    expect(action).toBe(expected);
    if (action !== "deny") return;
    // The rule suggested in the reason does allow the request.
    const [, suggested = ""] = /blueprint: (\{.*\})$/.exec(reason) ?? [];
    expect(evaluate([JSON.parse(suggested)], request).action).toBe("allow");
  });
});

const denying: [match: string, request: string, verdict: Verdict][] = [
  ["https://x.org/admin*", "https://x.org/admin", "deny"],
  ["https://x.org/admin*", "POST https://x.org/admin/users?all", "deny"],
  ["https://x.org/admin*", "https://x.org/other", "allow"],
  ["https://x.org/admin*", "https://y.org/admin", "allow"],
  ["https://x.org/admin*", "https://x.org:8443/admin", "allow"],
  ["http://x.org/*", "https://x.org/", "allow"],
  ["https://x.org/admin", "https://x.org/admin?x=1", "deny"],
  ["https://x.org/admin", "https://x.org/admin/", "deny"],
  ["https://x.org/admin/", "https://x.org/admin", "deny"],
  ["https://x.org/admin", "https://x.org/admin/users", "allow"],
  ["https://x.org/admin*", "https://x.org/ADMIN", "deny"],
  ["https://x.org/admin*", "https://x.org/%61dmin", "deny"],
  ["https://x.org/admin*", "https://x.org/%2561dmin", "deny"],
  ["https://x.org/admin*", "https://x.org//admin", "deny"],
  ["https://x.org/admin*", "https://x.org/\\admin", "deny"],
  ["https://x.org/admin/*", "https://x.org/admin%2fusers", "deny"],
  ["https://x.org/admin/*", "https://x.org/admin;x=1/users", "deny"],
  ["https://x.org/admin*", "https://x.org/a/../admin", "deny"],
  ["https://x.org/admin*", "https://x.org/a/..%2fadmin", "deny"],
  ["https://x.org/admin*", "https://x.org/x/..%2fadmin%252f..%252fx", "deny"],
  ["https://x.org/admin*", "https://x.org./admin", "deny"],
  ["https://x.org./admin*", "https://x.org/admin", "deny"],
  ["https://*.x.org/*", "https://a.x.org./", "deny"],
  ["https://*.x.org/*", "https://x.org/", "allow"],
  ["POST https://x.org/*", "POST https://x.org/", "deny"],
  ["POST https://x.org/*", "PUT https://x.org/", "allow"],
  ["* https://x.org/*", "PUT https://x.org/", "deny"],
  ["nonsense", "https://x.org/", "deny"],
  ["https://x.org", "https://y.org/", "deny"],
];

describe("everything is allowed except for one deny rule", () => {
  const allowAll = ["https", "http"].flatMap((scheme) =>
    ["", ":8443"].map((port) => ({ match: `* ${scheme}://*${port}/*`, action: "allow" as const })),
  );

  test.each(denying)("%j, requesting %j: %s", (match, request, expected) => {
    expect(evaluate([...allowAll, { match, action: "deny" }], request).action).toBe(expected);
    // An ask rule matches whatever a deny rule would.
    expect(evaluate([...allowAll, { match, action: "ask" }], request).action).toBe(
      expected === "deny" ? "ask" : "allow",
    );
  });
});

test("nothing is allowed without a rule, and everything with a rule for all tools", () => {
  expect(evaluate([], "https://x.org/")).toEqual({
    action: "deny",
    reason:
      'No policy rule allows this call of fetch. To allow it, add this rule to config.policy of the agent\'s blueprint: {"tool": "fetch", "match": "https://x.org/*", "action": "allow"}',
  });
  expect(evaluate([], "DELETE https://x.org:8443/a").reason).toContain('"match": "DELETE https://x.org:8443/*"');
  expect(evaluate([{ tool: "*", action: "allow" }], "DELETE https://x.org/").action).toBe("allow");
});

test("rules with many wildcards and repeatedly encoded URLs are evaluated in bounded time", () => {
  const policy = Array.from({ length: 500 }, (_, index) => ({
    match: `https://x.org/${"*a".repeat(900)}${index}`,
    action: "deny" as const,
  }));
  const everything = { match: "https://x.org/*", action: "allow" as const };
  for (const path of ["a".repeat(1900), `%${"25".repeat(900)}`, "%25".repeat(600), "/".repeat(1900)]) {
    expect(evaluate([...policy, everything], `https://x.org/${path}`).action).toBe("allow");
  }
});
