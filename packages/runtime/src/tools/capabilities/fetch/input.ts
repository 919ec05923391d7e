import { z } from "zod";
import { methods } from "../../../policy/match-request.ts";

export const maxBodyBytes = 1024 * 1024;
const maxUrlChars = 2000;
const maxHeaders = 64;
const maxHeaderChars = 8 * 1024;

/**
 * Headers that are the connection's business, that speak for somebody else, or that make another method of the one
 * that the policy was asked about.
 */
const refusedHeader =
  /^(?:accept-charset|accept-encoding|connection|content-encoding|content-length|cookie2?|date|dnt|expect|forwarded|host|http2-settings|keep-alive|origin|referer|set-cookie2?|te|trailers?|transfer-encoding|upgrade|via|x-http-method(?:-override)?|x-method-override|x-original-(?:url|host)|x-rewrite-url|x-real-ip|(?:access-control-request|cf|proxy|sec|x-forwarded)-.*)$/;

/** An address as it is sent: in its one spelling, and without what stays here. */
const urlSchema = z.string("expected an address").transform((given, context) => {
  const problem = (message: string) => {
    context.issues.push({ code: "custom", message, input: given });
    return z.NEVER;
  };
  if (given.length > maxUrlChars) return problem(`longer than ${maxUrlChars} characters`);
  if (!/^https?:/i.test(given) || !URL.canParse(given))
    return problem("expected an address that begins with http:// or https://");
  const url = new URL(given);
  if (url.username || url.password)
    return problem("an address here has no user and no password in it; use the header “authorization”");
  url.hash = "";
  // Letters of other alphabets take more room on their way.
  return url.href.length > maxUrlChars ? problem(`longer than ${maxUrlChars} characters`) : url.href;
});

const headersSchema = z
  .record(z.string(), z.string(), "expected headers as {name: value}")
  .transform((given, context) => {
    const headers: Record<string, string> = {};
    const problem = (name: string, message: string) =>
      context.issues.push({ code: "custom", message, input: given, path: [name.slice(0, 100)] });
    const entries = Object.entries(given);
    if (entries.length > maxHeaders)
      context.issues.push({ code: "custom", message: `more than ${maxHeaders} headers`, input: given });
    for (const [written, value] of entries.slice(0, maxHeaders)) {
      const name = written.toLowerCase();
      if (!/^[!#$%&'*+.^_`|~0-9a-z-]{1,200}$/.test(name)) problem(written, "this cannot be the name of a header");
      else if (refusedHeader.test(name)) problem(written, "this header cannot be set here");
      else if (Object.hasOwn(headers, name)) problem(written, "this header is given twice");
      else if (value.length > maxHeaderChars) problem(written, `longer than ${maxHeaderChars} characters`);
      // Line breaks and other control characters would be headers, or requests, of their own.
      else if (!/^[\t\x20-\x7e\x80-\xff]*$/.test(value)) problem(written, "this cannot be the value of a header");
      else headers[name] = value.trim();
    }
    return headers;
  });

const tooLarge = `larger than ${maxBodyBytes} bytes`;

/** What code says to `fetch`, as it comes out of its sandbox. */
export const fetchInputSchema = z
  .strictObject({
    url: urlSchema,
    method: z
      .string()
      .transform((given) => given.toUpperCase())
      .pipe(z.enum(methods, `expected one of ${methods.join(", ")}`))
      .default("GET"),
    headers: headersSchema.default({}),
    body: z
      .string()
      .refine((body) => body.length <= maxBodyBytes && Buffer.byteLength(body) <= maxBodyBytes, tooLarge)
      .optional(),
    bodyBase64: z
      .string()
      .max(Math.ceil(maxBodyBytes / 3) * 4, tooLarge)
      .pipe(z.base64())
      .refine((body) => Buffer.byteLength(body, "base64") <= maxBodyBytes, tooLarge)
      .optional(),
  })
  .refine(
    ({ body, bodyBase64 }) => body === undefined || bodyBase64 === undefined,
    "expected body or bodyBase64, not both",
  )
  .refine(
    ({ method, body, bodyBase64 }) => (method !== "GET" && method !== "HEAD") || (body ?? bodyBase64) === undefined,
    "a GET or HEAD request has no body",
  );

export type FetchInput = z.infer<typeof fetchInputSchema>;
