import type { Exchange, Script, ScriptCall, ScriptFailure } from "@thinkery/sdk";
import type { ModelMessage } from "../model.ts";
import type { TemplateVariables } from "./template.ts";

/** One action of a scripted response. */
export type ScriptAction =
  | { do: "wait"; ms: number }
  | { do: "reasoning" | "text"; text: string }
  | { do: "fail"; failure: ScriptFailure }
  | { do: "calls"; calls: ScriptCall[] };

/** What a script plays for a request. */
export interface ScriptPosition {
  actions: readonly ScriptAction[];
  variables: TemplateVariables;
}

const maxMatchedChars = 10_000;

/**
 * Derived from the messages alone, so that a resumed turn continues where it was. The latest user message selects the
 * exchange; each assistant message since then has consumed one of its responses.
 */
export function findScriptPosition(script: Script, messages: readonly ModelMessage[]): ScriptPosition {
  const userMessages = listUserMessages(messages);
  const latest = userMessages.at(-1) ?? { text: "", at: -1 };
  const since = messages.slice(latest.at + 1);
  const responseCount = since.filter(({ role }) => role === "assistant").length;
  const exchange = findExchange(
    script,
    userMessages.map(({ text }) => text),
  );
  const results = since.flatMap((message) =>
    message.role === "tool" ? [{ tool: message.name, content: message.content }] : [],
  );
  return {
    actions: (exchange && splitResponses(exchange)[responseCount]) ?? [],
    variables: { message: latest.text, turn: Math.max(1, userMessages.length), results },
  };
}

// Consecutive user messages count as one; the last of them is used.
function listUserMessages(messages: readonly ModelMessage[]): { text: string; at: number }[] {
  const userMessages: { text: string; at: number }[] = [];
  messages.forEach((message, at) => {
    if (message.role !== "user") return;
    if (messages[at - 1]?.role === "user") userMessages.pop();
    userMessages.push({ text: getUserText(message.content), at });
  });
  return userMessages;
}

// The first exchange whose pattern matches; otherwise those without a pattern in order, repeating the last one.
function findExchange({ exchanges }: Script, texts: readonly string[]): Exchange | undefined {
  const findMatch = (text: string) => exchanges.find(({ when }) => when !== undefined && matchesPattern(when, text));
  const match = findMatch(texts.at(-1) ?? "");
  if (match) return match;
  const unconditional = exchanges.filter(({ when }) => when === undefined);
  const used = texts.slice(0, -1).filter((text) => !findMatch(text)).length;
  return unconditional[Math.min(used, unconditional.length - 1)];
}

// `/…/i` is a regular expression; other patterns are matched as plain text first, then as an expression.
function matchesPattern(pattern: string, message: string): boolean {
  const text = message.slice(0, maxMatchedChars);
  const [, source, flags] = /^\/(.+)\/([a-z]*)$/s.exec(pattern) ?? [];
  if (source === undefined && text.toLowerCase().includes(pattern.toLowerCase())) return true;
  try {
    return new RegExp(source ?? pattern, flags?.replaceAll(/[gy]/g, "") ?? "i").test(text);
  } catch {
    return false;
  }
}

/** Splits an exchange into model responses: each ends with its tool calls, and the next follows their results. */
function splitResponses({ steps }: Exchange): ScriptAction[][] {
  const responses: ScriptAction[][] = [[]];
  for (const { wait, reasoning, text, call, calls, fail } of steps) {
    const current = responses.at(-1) as ScriptAction[];
    if (wait !== undefined) current.push({ do: "wait", ms: wait });
    if (reasoning !== undefined) current.push({ do: "reasoning", text: reasoning });
    if (text !== undefined) current.push({ do: "text", text });
    if (fail) current.push({ do: "fail", failure: fail });
    const allCalls = [...(call ? [call] : []), ...(calls ?? [])];
    if (allCalls.length === 0) continue;
    current.push({ do: "calls", calls: allCalls });
    responses.push([]);
  }
  return responses;
}

function getUserText(content: Extract<ModelMessage, { role: "user" }>["content"]): string {
  if (typeof content === "string") return content;
  return content.map((part) => (part.type === "text" ? part.text : "")).join("");
}
