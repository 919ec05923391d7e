import type { Exchange, Script, ScriptCall, ScriptFailure } from "@thinkery/sdk";
import type { ModelMessage } from "../model.ts";
import type { TemplateVariables } from "./template.ts";

/** One thing to do, in the order in which it is done. */
export type ScriptAction =
  | { do: "wait"; ms: number }
  | { do: "reasoning" | "text"; text: string }
  | { do: "fail"; failure: ScriptFailure }
  | { do: "calls"; calls: ScriptCall[] };

/** Where in a script a request stands. */
export interface ScriptPosition {
  actions: readonly ScriptAction[];
  variables: TemplateVariables;
}

const maxMatchedChars = 10_000;

/**
 * Found from the messages alone, so that a turn that is taken up again plays on where it was. The latest user
 * message chooses the exchange; every answer since then took one of its parts.
 */
export function findScriptPosition(script: Script, messages: readonly ModelMessage[]): ScriptPosition {
  const said = listUserMessages(messages);
  const latest = said.at(-1) ?? { text: "", at: -1 };
  const since = messages.slice(latest.at + 1);
  const answers = since.filter(({ role }) => role === "assistant").length;
  const exchange = findExchange(
    script,
    said.map(({ text }) => text),
  );
  const results = since.flatMap((message) =>
    message.role === "tool" ? [{ tool: message.name, content: message.content }] : [],
  );
  return {
    actions: (exchange && splitAnswers(exchange)[answers]) ?? [],
    variables: { message: latest.text, turn: Math.max(1, said.length), results },
  };
}

// Messages that came in a row, before any answer, are one; the last of them counts.
function listUserMessages(messages: readonly ModelMessage[]): { text: string; at: number }[] {
  const said: { text: string; at: number }[] = [];
  messages.forEach((message, at) => {
    if (message.role !== "user") return;
    if (messages[at - 1]?.role === "user") said.pop();
    said.push({ text: getUserText(message.content), at });
  });
  return said;
}

// The first exchange whose pattern fits; else those without one, in order, and the last of them from then on.
function findExchange({ exchanges }: Script, said: readonly string[]): Exchange | undefined {
  const fitting = (text: string) => exchanges.find(({ when }) => when !== undefined && matchesPattern(when, text));
  const found = fitting(said.at(-1) ?? "");
  if (found) return found;
  const plain = exchanges.filter(({ when }) => when === undefined);
  const earlier = said.slice(0, -1).filter((text) => !fitting(text)).length;
  return plain[Math.min(earlier, plain.length - 1)];
}

// `/…/i` is a regular expression; other text is looked for as it is, and then as an expression.
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

/** An exchange cut into the model's answers: each ends with its calls, and the next follows their results. */
function splitAnswers({ steps }: Exchange): ScriptAction[][] {
  const answers: ScriptAction[][] = [[]];
  for (const { wait, reasoning, text, call, calls, fail } of steps) {
    const current = answers.at(-1) as ScriptAction[];
    if (wait !== undefined) current.push({ do: "wait", ms: wait });
    if (reasoning !== undefined) current.push({ do: "reasoning", text: reasoning });
    if (text !== undefined) current.push({ do: "text", text });
    if (fail) current.push({ do: "fail", failure: fail });
    const called = [...(call ? [call] : []), ...(calls ?? [])];
    if (called.length === 0) continue;
    current.push({ do: "calls", calls: called });
    answers.push([]);
  }
  return answers;
}

function getUserText(content: Extract<ModelMessage, { role: "user" }>["content"]): string {
  if (typeof content === "string") return content;
  return content.map((part) => (part.type === "text" ? part.text : "")).join("");
}
