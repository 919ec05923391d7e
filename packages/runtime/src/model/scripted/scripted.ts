import type { Script, ScriptFailure } from "@thinkery/sdk";
import { runFairly } from "../../host/fair-work.ts";
import { type Model, type ModelPart, type ModelRequest, createCallId } from "../model.ts";
import { pause } from "../pause.ts";
import { createModelError } from "../wire/create-model-error.ts";
import { parsePatterns } from "./message-pattern.ts";
import { findScriptPosition } from "./script-position.ts";
import { fillInput, fillText } from "./template.ts";

/**
 * A model that plays a script: it streams, calls tools and fails like a real one, without a provider. What it plays
 * next follows from the request alone, except for `fail` with `times`, which is counted in memory (without `times` it
 * always fails).
 */
export function createScriptedModel(id: string, script: Script): Model {
  const failureCounts = new Map<string, number>();
  const conditions = script.exchanges.flatMap(({ when }) => when ?? []);
  let patterns: Awaited<ReturnType<typeof parsePatterns>> | undefined;

  function fail(position: string, { status, times, retryAfter }: ScriptFailure): void {
    const count = failureCounts.get(position) ?? 0;
    if (times !== undefined && count >= times) return;
    failureCounts.set(position, count + 1);
    throw createModelError(
      { id },
      { status, ...(retryAfter === undefined ? {} : { retryAfterMs: retryAfter * 1000 }) },
    );
  }

  async function* stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelPart[]> {
    signal.throwIfAborted();
    const parsed = (patterns ??= await parsePatterns(conditions));
    const { actions, variables } = await runFairly(() => findScriptPosition(script, parsed, request.messages));
    let outputChars = 0;
    let hasCalls = false;
    for (const [index, action] of actions.entries()) {
      if (action.do === "wait") await pause(action.ms, signal);
      else if (action.do === "fail") fail(`${request.messages.length} ${index}`, action.failure);
      else if (action.do === "calls") {
        const calls = action.calls.map(({ tool, input }) => ({
          id: createCallId(),
          name: tool,
          input: fillInput(input, variables),
        }));
        outputChars += JSON.stringify(calls).length;
        hasCalls = true;
        yield calls.map((call) => ({ type: "tool-call", call }));
      } else {
        const text = fillText(action.text, variables);
        outputChars += text.length;
        for (const piece of splitPieces(text, script.pace)) {
          if (script.pace > 0) await pause(script.pace, signal);
          yield [{ type: action.do, text: piece }];
        }
      }
    }
    const usage = {
      inputTokens: estimateTokens(countRequestChars(request)),
      outputTokens: estimateTokens(outputChars),
    };
    yield [{ type: "finish", reason: hasCalls ? "tool-calls" : "stop", usage }];
  }

  return { id, stream };
}

// Without a pace the whole text is one piece.
function splitPieces(text: string, pace: number): string[] {
  if (text === "") return [];
  return pace > 0 ? (text.match(/\S+\s*|\s+/g) ?? []) : [text];
}

// English averages four characters per token.
const estimateTokens = (chars: number) => Math.ceil(chars / 4);

function countRequestChars({ system, messages, tools }: ModelRequest): number {
  const messageChars = messages.reduce((sum, message) => {
    const { content } = message;
    const text =
      typeof content === "string"
        ? content.length
        : content.reduce((all, part) => all + (part.type === "text" ? part.text.length : 0), 0);
    const calls = message.role === "assistant" && message.toolCalls ? JSON.stringify(message.toolCalls).length : 0;
    return sum + text + calls;
  }, 0);
  return system.length + messageChars + (tools.length > 0 ? JSON.stringify(tools).length : 0);
}
