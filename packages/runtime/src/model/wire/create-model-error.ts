import { ModelError, type ModelErrorKind } from "../error.ts";

/** Who was asked: all that an error may say about our side. The key is here only to be kept out of messages. */
export interface ModelIdentity {
  id: string;
  keyName?: string;
  key?: string;
}

/** What a provider says when it says no, whatever its format. */
export interface ProviderError {
  status?: number;
  type?: string;
  code?: string;
  param?: string;
  message?: string;
  retryAfterMs?: number;
  /** It came in the middle of an answer: the request itself had been taken. */
  midway?: boolean;
}

const kindByCode: Record<string, ModelErrorKind> = {
  insufficient_quota: "quota",
  billing_error: "quota",
  billing_hard_limit_reached: "quota",
  billing_not_active: "quota",
  // Workers AI: the free allocation of the day is used up.
  "3036": "quota",
  context_length_exceeded: "overflow",
  exceed_context_size_error: "overflow",
  request_too_large: "overflow",
  content_filter: "content",
  content_policy_violation: "content",
  moderation_blocked: "content",
  refusal: "content",
  invalid_api_key: "auth",
  authentication_error: "auth",
  permission_error: "auth",
  account_deactivated: "auth",
  API_KEY_INVALID: "auth",
  UNAUTHENTICATED: "auth",
  PERMISSION_DENIED: "auth",
  overloaded_error: "overloaded",
  rate_limit_error: "overloaded",
  rate_limit_exceeded: "overloaded",
  timeout_error: "overloaded",
  api_error: "overloaded",
  server_error: "overloaded",
  internal_error: "overloaded",
  internal_server_error: "overloaded",
  service_unavailable: "overloaded",
  slow_down: "overloaded",
  RESOURCE_EXHAUSTED: "overloaded",
  UNAVAILABLE: "overloaded",
  DEADLINE_EXCEEDED: "overloaded",
  INTERNAL: "overloaded",
};

/** Two providers give a too long prompt no code of its own, but always begin its message in the same way. */
const overflowPrefixes = [
  "prompt is too long:",
  "input length and `max_tokens` exceed context limit",
  "The input token count",
];

export function createModelError(asked: ModelIdentity, complaint: ProviderError): ModelError {
  const kind = classifyError(complaint);
  const { status, retryAfterMs } = complaint;
  const said = quote(asked, complaint.message);
  const message = `${describeError(kind, asked, status)}${said ? ` It said: ${said}` : ""}`;
  return new ModelError(kind, message, {
    passing: kind === "overloaded" || kind === "network",
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    ...(status === undefined ? {} : { status }),
    advice: createAdvice(kind, asked, status),
  });
}

/** The connection, not the provider: nobody answered, the answer broke off, or it made no sense. */
export function createNetworkError(asked: ModelIdentity, what: string): ModelError {
  return new ModelError("network", `${asked.id} ${quote(asked, what)}`, {
    passing: true,
    advice: createAdvice("network", asked, undefined),
  });
}

/** A redirect would take the key to another address. */
export function createRedirectError(asked: ModelIdentity, status: number): ModelError {
  return new ModelError(
    "refused",
    `${asked.id} answered with a redirect (${status}), which is not followed: it would carry the key to another address.`,
    {
      passing: false,
      status,
      advice: "Set the provider's address to the one it redirects to, if you trust it.",
    },
  );
}

function classifyError({ status, type, code, message, midway }: ProviderError): ModelErrorKind {
  const byName = kindByCode[code ?? ""] ?? kindByCode[type ?? ""];
  if (byName) return byName;
  if (message && overflowPrefixes.some((prefix) => message.startsWith(prefix))) return "overflow";
  if (status === 401 || status === 403) return "auth";
  if (status === 402) return "quota";
  if (status === 413) return "overflow";
  if (status === 408 || status === 429 || (status ?? 0) >= 500) return "overloaded";
  // It had taken the request, so the request was not what it minds.
  if (midway && status === undefined) return "overloaded";
  return "refused";
}

function describeError(kind: ModelErrorKind, { id, key, keyName }: ModelIdentity, status: number | undefined): string {
  const number = status === undefined ? "" : ` (${status})`;
  switch (kind) {
    case "auth":
      return key || !keyName
        ? `${id} does not accept the key${number}.`
        : `${id} needs a key${number}, and ${keyName} is not set.`;
    case "quota":
      return `The account behind ${id} has no credit left${number}.`;
    case "overflow":
      return `The conversation is longer than ${id} can read${number}.`;
    case "overloaded":
      return status === 429 ? `${id} asks us to slow down${number}.` : `${id} has trouble of its own${number}.`;
    case "content":
      return `The content filter of ${id} stopped this${number}.`;
    default:
      return status === 404
        ? `${id} was not found${number}: there is no such model there, or the address is wrong.`
        : `${id} refused the request${number}.`;
  }
}

function createAdvice(kind: ModelErrorKind, { keyName, key }: ModelIdentity, status: number | undefined): string {
  switch (kind) {
    case "auth":
      return `${key ? "Check the key in" : "Put a key into"} ${keyName ?? "the provider's settings"} and start the host again.`;
    case "quota":
      return `Add credit or raise the limit of the account${keyName ? ` whose key is in ${keyName}` : ""}, or choose another model.`;
    case "overflow":
      return "Shorten the conversation, or choose a model that reads more at once.";
    case "overloaded":
      return "Wait a little and try again, or choose another model.";
    case "content":
      return "Say it in another way, or choose another model.";
    case "network":
      return "Check the network and the provider's address, then try again.";
    default:
      return status === 404
        ? "Check the name of the model (`thinkery models` lists them) and the provider's address."
        : "Check the model and its settings.";
  }
}

/** A provider's words, short, on one line, and without anything that looks like a key: some echo it. */
function quote({ key }: ModelIdentity, words: string | undefined): string {
  if (!words) return "";
  const safe = (key ? words.replaceAll(key, "…") : words)
    .replace(/\bsk-[\w*.-]{4,}/g, "…")
    .replace(/\s+/g, " ")
    .trim();
  return safe.length > 300 ? `${safe.slice(0, 299)}…` : safe;
}
