import type { Exchange, Script, ScriptCall, ScriptFailure } from "@thinkery/sdk";
import type { Work } from "../../host/fair-work.ts";
import type { ModelMessage } from "../model.ts";
import type { MessagePattern } from "./message-pattern.ts";
import type { TemplateVariables } from "./template.ts";

/** One action of a scripted response. */
export type ScriptAction =
  | { do: "wait"; ms: number }
  | { do: "reasoning" | "text"; text: string }
  | { do: "fail"; failure: ScriptFailure }
  | { do: "calls"; calls: ScriptCall[] };

/** The patterns of a script's exchanges. */
type Patterns = ReadonlyMap<string, MessagePattern>;

/** What a script plays for a request. */
export interface ScriptPosition {
  actions: readonly ScriptAction[];
  variables: TemplateVariables;
}

/**
 * Derived from the messages alone, so that a resumed turn continues where it was. The latest user message selects the
 * exchange; each assistant message since then has consumed one of its responses.
 */
export function* findScriptPosition(
  script: Script,
  patterns: Patterns,
  messages: readonly ModelMessage[],
): Work<ScriptPosition> {
  const userMessages = listUserMessages(messages);
  const latest = userMessages.at(-1) ?? { text: "", at: -1 };
  const since = messages.slice(latest.at + 1);
  const responseCount = since.filter(({ role }) => role === "assistant").length;
  const exchange = yield* findExchange(
    script,
    patterns,
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
    if (message.role !== "user" || message.notice) return;
    const previous = messages[at - 1];
    if (previous?.role === "user" && !previous.notice) userMessages.pop();
    userMessages.push({ text: getUserText(message.content), at });
  });
  return userMessages;
}

// The first exchange whose pattern matches; otherwise those without a pattern in order, repeating the last one.
function* findExchange(
  { exchanges }: Script,
  patterns: Patterns,
  texts: readonly string[],
): Work<Exchange | undefined> {
  const conditional = exchanges.filter(({ when }) => when !== undefined);
  const unconditional = exchanges.filter(({ when }) => when === undefined);
  function* findMatch(text: string): Work<Exchange | undefined> {
    for (const exchange of conditional) {
      yield text.length / 1000;
      if (yield* (patterns.get(exchange.when as string) as MessagePattern).matches(text)) return exchange;
    }
    return undefined;
  }
  const match = yield* findMatch(texts.at(-1) ?? "");
  if (match || unconditional.length < 2) return match ?? unconditional[0];
  let used = 0;
  for (const text of texts.slice(0, -1)) if (!(yield* findMatch(text))) used++;
  return unconditional[Math.min(used, unconditional.length - 1)];
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
