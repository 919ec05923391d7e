import type { Approval, AskedCall } from "@thinkery/sdk";

/** What one approval may take in a list over all agents. */
const maxApprovalChars = 64_000;
const maxTextChars = 2000;

/** Cuts long inputs of an approval, for lists. The agent's own list has all of them. */
export function shortenApproval(approval: Approval): Approval {
  if (JSON.stringify(approval).length <= maxApprovalChars) return approval;
  const { preview, ...rest } = approval;
  const calls = approval.calls.map(shortenCall);
  const isShort = JSON.stringify(calls).length <= maxApprovalChars;
  return {
    ...rest,
    calls: isShort ? calls : calls.map(({ id, name, why }) => ({ id, name, why, args: {} })),
    ...(preview === undefined ? {} : { preview: cut(preview) }),
    shortened: true,
  };
}

function shortenCall({ args, preview, ...call }: AskedCall): AskedCall {
  return {
    ...call,
    args: shortenValue(args),
    ...(preview ? { preview: shortenValue(preview) as typeof preview } : {}),
  };
}

function shortenValue(value: unknown): unknown {
  if (typeof value === "string") return cut(value);
  if (Array.isArray(value)) return value.slice(0, 20).map(shortenValue);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, shortenValue(inner)]));
}

const cut = (text: string) => (text.length > maxTextChars ? `${text.slice(0, maxTextChars)}…` : text);
