import { ModelError } from "../../model/error.ts";
import type { Model, ModelPart, ModelRequest, ToolCall } from "../../model/model.ts";
import { pause } from "../../model/pause.ts";
import { retryDelay } from "../../model/retry.ts";
import type { CallEnd, DrivenTurn, Driver } from "../driver.ts";
import { compact } from "./compact.ts";
import { needAfterOverflow, needBefore, tooLarge, usedAfter } from "./context.ts";
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
        transcript.follow(turn.conversation.compaction());
        await transcript.add(turn.conversation);
        await step(turn, transcript);
      }
    },
  };
}

async function step(turn: DrivenTurn, transcript: Transcript): Promise<void> {
  const model = await modelFor(turn, transcript);
  // Only where it may be close is this waited for.
  const limit = turn.means.contextOf(model.id);
  const need = await needBefore(turn, transcript, limit);
  if (need) await compact(turn, transcript, need);
  let request = await planned(turn, transcript, model);
  let overflowed = false;
  for (let [attempt, tries] = [1, 1]; ; attempt++, tries++) {
    if (attempt > 1) turn.retryCall(attempt);
    try {
      const answer = await call(turn, model, request);
      const context = { used: usedAfter(answer.finish.usage, turn, transcript), limit: await limit, model: model.id };
      const ended = turn.endCall({ ...answer, context });
      if (ended) await ended;
      return;
    } catch (error) {
      turn.signal.throwIfAborted();
      if (!(error instanceof ModelError)) throw error;
      // Once: a conversation that was made smaller and is refused again is refused.
      const tooLong = error.kind === "overflow" && !overflowed ? await needAfterOverflow(turn, transcript, limit) : undefined;
      const delay = tooLong ? 0 : retryDelay(error, tries, Math.random);
      turn.callFailed(error, attempt, delay);
      if (delay === undefined) throw error.kind === "overflow" ? await tooLarge(error, turn, transcript, model, limit) : error;
      if (tooLong) {
        [overflowed, tries] = [true, 0];
        await compact(turn, transcript, tooLong);
        request = await planned(turn, transcript, model);
      } else await pause(delay, turn.signal);
    }
  }
}

/** What there is to look at is looked at by the model that sees. */
async function modelFor({ means }: DrivenTurn, transcript: Transcript): Promise<Model> {
  return means.vision !== means.model.id && transcript.hasNewImages() ? means.modelOf("vision") : means.model;
}

function planned(turn: DrivenTurn, transcript: Transcript, model: Model): ModelRequest | Promise<ModelRequest> {
  const { vision } = turn.means;
  return turn.planCall(model.id === vision ? transcript.messages : transcript.inWords(vision), model);
}

async function call(turn: DrivenTurn, model: Model, request: ModelRequest): Promise<Omit<CallEnd, "context">> {
  const toolCalls: ToolCall[] = [];
  let replay: unknown;
  let finish: CallEnd["finish"] | undefined;
  for await (const parts of model.stream(request, turn.signal)) {
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
