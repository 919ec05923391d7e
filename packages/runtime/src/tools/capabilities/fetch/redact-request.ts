import type { Redact } from "@thinkery/sdk/internal";
import { type FetchResponse, getBodySize } from "./response.ts";

// The request log: what people may see of a request, without its content and secrets.

const maxShownChars = 300;
const maxValueChars = 24;
const secretKey = /key|token|secret|sig|pass|auth|code|session|credential|jwt/i;

export function summarizeFetch(response: FetchResponse, redact: Redact): string {
  const { method, url, status } = response;
  return `${method} ${redactUrl(url, redact)} → ${status}, ${formatBytes(getBodySize(response))}`;
}

export function redactRequest(input: unknown, redact: Redact): unknown {
  const { url, method, headers, body, bodyBase64 } = (
    typeof input === "object" && input !== null ? input : {}
  ) as Record<string, unknown>;
  const names =
    typeof headers === "object" && headers !== null
      ? Object.keys(headers)
          .slice(0, 64)
          .map((name) => name.slice(0, 100))
      : [];
  const bodySize =
    typeof bodyBase64 === "string" ? getBodySize({ bodyBase64 }) : typeof body === "string" ? getBodySize({ body }) : 0;
  return {
    ...(typeof method === "string" ? { method: method.slice(0, 20) } : {}),
    ...(typeof url === "string" ? { url: redactUrl(url, redact) } : {}),
    ...(names.length > 0 ? { headers: names } : {}),
    ...(bodySize > 0 ? { body: formatBytes(bodySize) } : {}),
  };
}

function redactUrl(url: string, redact: Redact): string {
  return truncate(redact(URL.canParse(url) ? stripValues(new URL(url)) : url));
}

/** Keeps the names of query parameters, but hides values that are long or look like secrets. */
function stripValues({ protocol, host, pathname, searchParams }: URL): string {
  const query = [...searchParams].map(([key, value]) => {
    const isShown = value.length <= maxValueChars && !secretKey.test(key);
    return `${encodeURIComponent(key)}=${isShown ? encodeURIComponent(value) : "…"}`;
  });
  return `${protocol}//${host}${pathname}${query.length > 0 ? `?${query.join("&")}` : ""}`;
}

const truncate = (text: string) => (text.length > maxShownChars ? `${text.slice(0, maxShownChars)}…` : text);

function formatBytes(bytes: number): string {
  if (bytes < 1024) return `${bytes} bytes`;
  const kilo = bytes / 1024;
  return kilo < 1024 ? `${kilo.toFixed(1)} KB` : `${(kilo / 1024).toFixed(1)} MB`;
}
