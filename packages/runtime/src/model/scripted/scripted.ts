import type { Script, ScriptFailure } from "@thinkery/sdk";
import { type Model, type ModelPart, type ModelRequest, createCallId } from "../model.ts";
import { pause } from "../pause.ts";
import { createModelError } from "../wire/create-model-error.ts";
import { findScriptPosition } from "./script-position.ts";
import { fillInput, fillText } from "./template.ts";

/**
 * A model that plays a script: it streams, calls tools and fails like a real one, and asks nobody. What it plays
 * next follows from the request alone. Only `fail` with `times` counts, in memory: without `times` it always fails.
 */
export function createScriptedModel(id: string, script: Script): Model {
  const failed = new Map<string, number>();

  function fail(place: string, { status, times, retryAfter }: ScriptFailure): void {
    const before = failed.get(place) ?? 0;
    if (times !== undefined && before >= times) return;
    failed.set(place, before + 1);
    throw createModelError(
      { id },
      { status, ...(retryAfter === undefined ? {} : { retryAfterMs: retryAfter * 1000 }) },
    );
  }

  async function* stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelPart[]> {
    signal.throwIfAborted();
    const { actions, variables } = findScriptPosition(script, request.messages);
    let written = 0;
    let called = false;
    for (const [index, beat] of actions.entries()) {
      if (beat.do === "wait") await pause(beat.ms, signal);
      else if (beat.do === "fail") fail(`${request.messages.length} ${index}`, beat.failure);
      else if (beat.do === "calls") {
        const calls = beat.calls.map(({ tool, input }) => ({
          id: createCallId(),
          name: tool,
          input: fillInput(input, variables),
        }));
        written += JSON.stringify(calls).length;
        called = true;
        yield calls.map((call) => ({ type: "tool-call", call }));
      } else {
        const text = fillText(beat.text, variables);
        written += text.length;
        for (const piece of splitPieces(text, script.pace)) {
          if (script.pace > 0) await pause(script.pace, signal);
          yield [{ type: beat.do, text: piece }];
        }
      }
    }
    const usage = { inputTokens: estimateTokens(countRequestChars(request)), outputTokens: estimateTokens(written) };
    yield [{ type: "finish", reason: called ? "tool-calls" : "stop", usage }];
  }

  return { id, stream };
}

// Without a pace all of it arrives together, and then it is one piece.
function splitPieces(text: string, pace: number): string[] {
  if (text === "") return [];
  return pace > 0 ? (text.match(/\S+\s*|\s+/g) ?? []) : [text];
}

// Four characters a token is what English comes to.
const estimateTokens = (characters: number) => Math.ceil(characters / 4);

function countRequestChars({ system, messages, tools }: ModelRequest): number {
  const said = messages.reduce((sum, message) => {
    const { content } = message;
    const text =
      typeof content === "string"
        ? content.length
        : content.reduce((all, part) => all + (part.type === "text" ? part.text.length : 0), 0);
    const calls = message.role === "assistant" && message.toolCalls ? JSON.stringify(message.toolCalls).length : 0;
    return sum + text + calls;
  }, 0);
  return system.length + said + (tools.length > 0 ? JSON.stringify(tools).length : 0);
}
