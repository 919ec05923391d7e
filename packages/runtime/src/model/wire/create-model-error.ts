import { ModelError, type ModelErrorKind } from "../error.ts";

/** What an error may say about the model. The key is only here so that it can be kept out of messages. */
export interface ModelIdentity {
  id: string;
  keyName?: string;
  key?: string;
}

/** A provider's error, independent of its wire format. */
export interface ProviderError {
  status?: number;
  type?: string;
  code?: string;
  param?: string;
  message?: string;
  retryAfterMs?: number;
  /** The error came in the middle of a response: the request itself had been accepted. */
  midway?: boolean;
}

const kindByCode: Record<string, ModelErrorKind> = {
  insufficient_quota: "quota",
  billing_error: "quota",
  billing_hard_limit_reached: "quota",
  billing_not_active: "quota",
  // Workers AI: the daily free allocation is used up.
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

/** Two providers have no error code for a prompt that is too long, but their messages start with a fixed text. */
const overflowPrefixes = [
  "prompt is too long:",
  "input length and `max_tokens` exceed context limit",
  "The input token count",
];

export function createModelError(identity: ModelIdentity, error: ProviderError): ModelError {
  const kind = classifyError(error);
  const { status, retryAfterMs } = error;
  const detail = quote(identity, error.message);
  const message = `${describeError(kind, identity, status)}${detail ? `: ${detail}` : "."}`;
  return new ModelError(kind, message, {
    retryable: kind === "overloaded" || kind === "network",
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    ...(status === undefined ? {} : { status }),
    advice: createAdvice(kind, identity, status),
  });
}

/** A failure of the connection: no response, an incomplete one, or one that cannot be parsed. */
export function createNetworkError(identity: ModelIdentity, reason: string): ModelError {
  return new ModelError("network", `${identity.id} ${quote(identity, reason)}`, {
    retryable: true,
    advice: createAdvice("network", identity, undefined),
  });
}

/** Redirects are not followed, because they would carry the key to another address. */
export function createRedirectError(identity: ModelIdentity, status: number): ModelError {
  return new ModelError(
    "refused",
    `${identity.id} returned a redirect (${status}). Redirects are not followed, because they would send the API key to another address.`,
    {
      retryable: false,
      status,
      advice: "If you trust the redirect target, set it as the base URL of the provider.",
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
  // The request had been accepted, so it is not the cause.
  if (midway && status === undefined) return "overloaded";
  return "refused";
}

function describeError(kind: ModelErrorKind, { id, key, keyName }: ModelIdentity, status: number | undefined): string {
  const suffix = status === undefined ? "" : ` (${status})`;
  switch (kind) {
    case "auth":
      return key || !keyName
        ? `${id} rejected the API key${suffix}`
        : `${id} needs an API key, but ${keyName} is not set${suffix}`;
    case "quota":
      return `The account for ${id} is out of credit${suffix}`;
    case "overflow":
      return `The conversation exceeds the context window of ${id}${suffix}`;
    case "overloaded":
      return status === 429 ? `${id} is rate limited${suffix}` : `${id} is temporarily unavailable${suffix}`;
    case "content":
      return `The content filter of ${id} blocked this${suffix}`;
    default:
      return status === 404
        ? `${id} was not found${suffix}; there is no such model, or the base URL is wrong`
        : `${id} rejected the request${suffix}`;
  }
}

function createAdvice(kind: ModelErrorKind, { keyName, key }: ModelIdentity, status: number | undefined): string {
  switch (kind) {
    case "auth":
      return `${key ? "Check the API key in" : "Set an API key in"} ${keyName ?? "the provider's settings"} and restart the host.`;
    case "quota":
      return `Add credit to the account${keyName ? ` of the key in ${keyName}` : ""} or raise its limit, or choose another model.`;
    case "overflow":
      return "Shorten the conversation, or choose a model with a larger context window.";
    case "overloaded":
      return "Try again in a moment, or choose another model.";
    case "content":
      return "Rephrase the message, or choose another model.";
    case "network":
      return "Check the network and the base URL of the provider, then try again.";
    default:
      return status === 404
        ? "Check the model name (`thinkery models` lists them) and the base URL of the provider."
        : "Check the model and its settings.";
  }
}

/** Shortens a provider's message to one line and removes anything that looks like a key, because some echo it. */
function quote({ key }: ModelIdentity, text: string | undefined): string {
  if (!text) return "";
  const line = (key ? text.replaceAll(key, "…") : text)
    .replace(/\bsk-[\w*.-]{4,}/g, "…")
    .replace(/\s+/g, " ")
    .trim();
  return line.length > 300 ? `${line.slice(0, 299)}…` : line;
}
