import type { Redact } from "../../../store/redact.ts";
import { type FetchResponse, getBodySize } from "./response.ts";

/** The request log: what a person may read of a request, without the content and the secrets that it carried. */

const maxShownChars = 300;
const maxValueChars = 24;
const secretKey = /key|token|secret|sig|pass|auth|code|session|credential|jwt/i;

export function summarizeFetch(answer: FetchResponse, redact: Redact): string {
  return `${answer.method} ${redactUrl(answer.url, redact)} → ${answer.status}, ${formatBytes(getBodySize(answer))}`;
}

export function redactRequest(given: unknown, redact: Redact): unknown {
  const { url, method, headers, body, bodyBase64 } = (
    typeof given === "object" && given !== null ? given : {}
  ) as Record<string, unknown>;
  const names =
    typeof headers === "object" && headers !== null
      ? Object.keys(headers)
          .slice(0, 64)
          .map((name) => name.slice(0, 100))
      : [];
  const sent =
    typeof bodyBase64 === "string" ? getBodySize({ bodyBase64 }) : typeof body === "string" ? getBodySize({ body }) : 0;
  return {
    ...(typeof method === "string" ? { method: method.slice(0, 20) } : {}),
    ...(typeof url === "string" ? { url: redactUrl(url, redact) } : {}),
    ...(names.length > 0 ? { headers: names } : {}),
    ...(sent > 0 ? { body: formatBytes(sent) } : {}),
  };
}

function redactUrl(url: string, redact: Redact): string {
  return truncate(redact(URL.canParse(url) ? stripValues(new URL(url)) : url));
}

/** The names in the query stay; what is long, or sounds like a secret, does not. */
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
