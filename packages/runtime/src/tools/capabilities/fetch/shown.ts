import type { Redact } from "../../../store/redact.ts";
import { type FetchAnswer, sizeOf } from "./answer.ts";

/** The request log: what a person may read of a request, without the content and the secrets that it carried. */

const maxShownChars = 300;
const maxValueChars = 24;
const secretKey = /key|token|secret|sig|pass|auth|code|session|credential|jwt/i;

export function summaryOf(answer: FetchAnswer, redact: Redact): string {
  return `${answer.method} ${shownUrl(answer.url, redact)} → ${answer.status}, ${inWords(sizeOf(answer))}`;
}

export function shownRequest(given: unknown, redact: Redact): unknown {
  const { url, method, headers, body, bodyBase64 } = (typeof given === "object" && given !== null ? given : {}) as Record<string, unknown>;
  const names = typeof headers === "object" && headers !== null ? Object.keys(headers).slice(0, 64).map((name) => name.slice(0, 100)) : [];
  const sent = typeof bodyBase64 === "string" ? sizeOf({ bodyBase64 }) : typeof body === "string" ? sizeOf({ body }) : 0;
  return {
    ...(typeof method === "string" ? { method: method.slice(0, 20) } : {}),
    ...(typeof url === "string" ? { url: shownUrl(url, redact) } : {}),
    ...(names.length > 0 ? { headers: names } : {}),
    ...(sent > 0 ? { body: inWords(sent) } : {}),
  };
}

function shownUrl(url: string, redact: Redact): string {
  return shortened(redact(URL.canParse(url) ? withoutValues(new URL(url)) : url));
}

/** The names in the query stay; what is long, or sounds like a secret, does not. */
function withoutValues({ protocol, host, pathname, searchParams }: URL): string {
  const query = [...searchParams].map(([key, value]) => {
    const isShown = value.length <= maxValueChars && !secretKey.test(key);
    return `${encodeURIComponent(key)}=${isShown ? encodeURIComponent(value) : "…"}`;
  });
  return `${protocol}//${host}${pathname}${query.length > 0 ? `?${query.join("&")}` : ""}`;
}

const shortened = (text: string) => (text.length > maxShownChars ? `${text.slice(0, maxShownChars)}…` : text);

function inWords(bytes: number): string {
  if (bytes < 1024) return `${bytes} bytes`;
  const kilo = bytes / 1024;
  return kilo < 1024 ? `${kilo.toFixed(1)} KB` : `${(kilo / 1024).toFixed(1)} MB`;
}
