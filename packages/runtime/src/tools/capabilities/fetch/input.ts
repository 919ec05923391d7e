import { z } from "zod";
import { methods } from "../../../policy/match-request.ts";

export const maxBodyBytes = 1024 * 1024;
const maxUrlChars = 2000;
const maxHeaders = 64;
const maxHeaderChars = 8 * 1024;

/** Headers that belong to the connection, impersonate a client, or override the method that the policy evaluated. */
const forbiddenHeader =
  /^(?:accept-charset|accept-encoding|connection|content-encoding|content-length|cookie2?|date|dnt|expect|forwarded|host|http2-settings|keep-alive|origin|referer|set-cookie2?|te|trailers?|transfer-encoding|upgrade|via|x-http-method(?:-override)?|x-method-override|x-original-(?:url|host)|x-rewrite-url|x-real-ip|(?:access-control-request|cf|proxy|sec|x-forwarded)-.*)$/;

/** A URL as it is sent: normalized, without the fragment. */
const urlSchema = z.string("expected a URL").transform((input, context) => {
  const addIssue = (message: string) => {
    context.issues.push({ code: "custom", message, input });
    return z.NEVER;
  };
  if (input.length > maxUrlChars) return addIssue(`longer than ${maxUrlChars} characters`);
  if (!/^https?:/i.test(input) || !URL.canParse(input))
    return addIssue("expected a URL that starts with http:// or https://");
  const url = new URL(input);
  if (url.username || url.password)
    return addIssue("the URL must not contain a user or password; use the “authorization” header");
  url.hash = "";
  // Encoding non-ASCII characters makes the URL longer.
  return url.href.length > maxUrlChars ? addIssue(`longer than ${maxUrlChars} characters`) : url.href;
});

const headersSchema = z
  .record(z.string(), z.string(), "expected headers as {name: value}")
  .transform((input, context) => {
    const headers: Record<string, string> = {};
    const addIssue = (name: string, message: string) =>
      context.issues.push({ code: "custom", message, input, path: [name.slice(0, 100)] });
    const entries = Object.entries(input);
    if (entries.length > maxHeaders)
      context.issues.push({ code: "custom", message: `more than ${maxHeaders} headers`, input });
    for (const [rawName, value] of entries.slice(0, maxHeaders)) {
      const name = rawName.toLowerCase();
      if (!/^[!#$%&'*+.^_`|~0-9a-z-]{1,200}$/.test(name)) addIssue(rawName, "invalid header name");
      else if (forbiddenHeader.test(name)) addIssue(rawName, "this header cannot be set");
      else if (Object.hasOwn(headers, name)) addIssue(rawName, "this header occurs twice");
      else if (value.length > maxHeaderChars) addIssue(rawName, `longer than ${maxHeaderChars} characters`);
      // Line breaks and other control characters could inject headers or requests.
      else if (!/^[\t\x20-\x7e\x80-\xff]*$/.test(value)) addIssue(rawName, "invalid header value");
      else headers[name] = value.trim();
    }
    return headers;
  });

const tooLargeMessage = `larger than ${maxBodyBytes} bytes`;

/** The input of `fetch`, as code sends it from its sandbox. */
export const fetchInputSchema = z
  .strictObject({
    url: urlSchema,
    method: z
      .string()
      .transform((method) => method.toUpperCase())
      .pipe(z.enum(methods, `expected one of ${methods.join(", ")}`))
      .default("GET"),
    headers: headersSchema.default({}),
    body: z
      .string()
      .refine((body) => body.length <= maxBodyBytes && Buffer.byteLength(body) <= maxBodyBytes, tooLargeMessage)
      .optional(),
    bodyBase64: z
      .string()
      .max(Math.ceil(maxBodyBytes / 3) * 4, tooLargeMessage)
      .pipe(z.base64())
      .refine((body) => Buffer.byteLength(body, "base64") <= maxBodyBytes, tooLargeMessage)
      .optional(),
  })
  .refine(
    ({ body, bodyBase64 }) => body === undefined || bodyBase64 === undefined,
    "expected body or bodyBase64, not both",
  )
  .refine(
    ({ method, body, bodyBase64 }) => (method !== "GET" && method !== "HEAD") || (body ?? bodyBase64) === undefined,
    "a GET or HEAD request cannot have a body",
  );

export type FetchInput = z.infer<typeof fetchInputSchema>;
