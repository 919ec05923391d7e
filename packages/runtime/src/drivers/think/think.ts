import { ModelError } from "../../model/error.ts";
import type { ModelPart, ModelRequest, ToolCall } from "../../model/model.ts";
import { pause } from "../../model/pause.ts";
import { retryDelay } from "../../model/retry.ts";
import type { CallEnd, DrivenTurn, Driver } from "../driver.ts";
import type { Transcript } from "./transcript.ts";

/**
 * Our own loop: the model, the tools it asked for, the model again. It keeps nothing between steps: what there is to
 * do next is read off the conversation, so a turn that was cut off anywhere goes on by being run again.
 */
export function thinkDriver(transcript: Transcript): Driver {
  return {
    async run(turn) {
      for (;;) {
        const calls = turn.unanswered();
        if (calls.length > 0) await turn.callTools(calls);
        if (turn.waits()) return "waits";
        if (calls.length === 0 && turn.isAnswered()) return "done";
        const begun = turn.beginStep();
        if (begun) await begun;
        await transcript.add(turn.spoken(transcript.position), turn.readBlob);
        await step(turn, transcript);
      }
    },
  };
}

async function step(turn: DrivenTurn, { messages }: Transcript): Promise<void> {
  const planned = turn.planCall(messages);
  const request = planned instanceof Promise ? await planned : planned;
  for (let attempt = 1; ; attempt++) {
    if (attempt > 1) turn.retryCall(attempt);
    try {
      const ended = turn.endCall(await call(turn, request));
      if (ended) await ended;
      return;
    } catch (error) {
      turn.signal.throwIfAborted();
      if (!(error instanceof ModelError)) throw error;
      const delay = retryDelay(error, attempt, Math.random);
      turn.callFailed(error, attempt, delay);
      if (delay === undefined) throw error;
      await pause(delay, turn.signal);
    }
  }
}

async function call(turn: DrivenTurn, request: ModelRequest): Promise<CallEnd> {
  const toolCalls: ToolCall[] = [];
  let replay: unknown;
  let finish: CallEnd["finish"] | undefined;
  for await (const parts of turn.model.stream(request, turn.signal)) {
    let text = "";
    let reasoning = "";
    for (const part of parts) {
      if (part.type === "text") text += part.text;
      else if (part.type === "reasoning") reasoning += part.text;
      else if (part.type === "tool-call") toolCalls.push(part.call);
      else if (part.type === "replay") replay = part.replay;
      else finish = part;
    }
    if (text || reasoning) turn.say(text, reasoning);
  }
  turn.signal.throwIfAborted();
  return { finish: checked(finish), toolCalls, replay };
}

function checked(finish: Extract<ModelPart, { type: "finish" }> | undefined): CallEnd["finish"] {
  if (!finish) throw new ModelError("network", "The model's answer ended without an end.", { passing: true, advice: "It is tried again by itself." });
  if (finish.reason === "content") {
    throw new ModelError("content", "The provider stopped the answer because of its content rules.", {
      passing: false,
      advice: "Put it differently, or use another model.",
    });
  }
  return finish;
}
