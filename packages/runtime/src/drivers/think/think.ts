import { createBrokenOffError, ModelError } from "../../model/error.ts";
import type { Model, ModelPart, ModelRequest, ToolCall } from "../../model/model.ts";
import { pause } from "../../model/pause.ts";
import { getRetryDelayMs } from "../../model/retry.ts";
import type { TurnContext, Driver, DriverDefinition, ModelCallEnd } from "../driver.ts";
import { compact } from "./compact.ts";
import { findNeedAfterOverflow, findNeedBeforeCall, createOverflowError, countUsedTokens } from "./context.ts";
import { Transcript } from "./transcript.ts";

/**
 * The built-in agent loop: calls the model, executes its tool calls, and calls it again. The next action is derived
 * from the conversation, so a turn that was interrupted anywhere continues when it is run again.
 */
export const thinkDriver: DriverDefinition = { name: "think", needsModel: true, create: () => new ThinkDriver() };

class ThinkDriver implements Driver {
  /** Kept between turns and only appended to, so that a long conversation is not read again for every step. */
  #transcript = new Transcript();

  reset(): void {
    this.#transcript = new Transcript();
  }

  async run(turn: TurnContext): Promise<"completed" | "waiting"> {
    const transcript = this.#transcript;
    const models = { primary: await turn.models.open("primary"), visionId: await turn.models.getId("vision") };
    const modelId = models.primary.id;
    for (;;) {
      const calls = await turn.listPendingCalls();
      if (calls.length > 0) await turn.executeCalls(calls);
      if (await turn.isWaiting()) return "waiting";
      if (calls.length === 0 && (await turn.isAnswered())) return "completed";
      await turn.beginStep({ modelId, startsCall: models.visionId === modelId });
      await transcript.sync(turn.conversation);
      await runStep(turn, transcript, models);
    }
  }
}

interface StepModels {
  primary: Model;
  /** The model that reads images; it may be the primary one. */
  visionId: string;
}

async function runStep(turn: TurnContext, transcript: Transcript, models: StepModels): Promise<void> {
  const model = await selectModel(turn, transcript, models);
  const planRequest = () => {
    const { visionId } = models;
    const messages = model.id === visionId ? transcript.messages : transcript.toTextMessages(visionId);
    return turn.planModelCall(messages, model.id);
  };
  // Awaited only if the conversation may be close to the limit.
  const limit = turn.models.getContextWindow(model.id);
  const need = await findNeedBeforeCall(turn, transcript, limit);
  if (need) await compact(turn, transcript, need);
  let request = await planRequest();
  let hasOverflowed = false;
  for (let [attempt, tries] = [1, 1]; ; attempt++, tries++) {
    if (attempt > 1) await turn.retryModelCall(attempt);
    try {
      const response = await callModel(turn, model, request);
      const used = countUsedTokens(response.finish.usage, turn, transcript);
      await turn.completeModelCall({ ...response, context: { used, limit: await limit, model: model.id } });
      return;
    } catch (error) {
      turn.signal.throwIfAborted();
      if (!(error instanceof ModelError)) throw error;
      // Only once: if the compacted conversation is rejected too, the turn fails.
      const overflowNeed =
        error.kind === "overflow" && !hasOverflowed ? await findNeedAfterOverflow(turn, transcript, limit) : undefined;
      const delay = overflowNeed ? 0 : getRetryDelayMs(error, tries, Math.random);
      await turn.failModelCall(error, attempt, delay);
      if (delay === undefined) {
        throw error.kind === "overflow" ? await createOverflowError(error, turn, transcript, model, limit) : error;
      }
      if (overflowNeed) {
        [hasOverflowed, tries] = [true, 0];
        await compact(turn, transcript, overflowNeed);
        request = await planRequest();
      } else await pause(delay, turn.signal);
    }
  }
}

/** Selects the vision model if there are new images. */
async function selectModel(
  { models }: TurnContext,
  transcript: Transcript,
  { primary, visionId }: StepModels,
): Promise<Model> {
  return visionId !== primary.id && transcript.hasNewImages() ? models.open("vision") : primary;
}

async function callModel(
  turn: TurnContext,
  model: Model,
  request: ModelRequest,
): Promise<Omit<ModelCallEnd, "context">> {
  const toolCalls: ToolCall[] = [];
  let replay: unknown;
  let finish: ModelCallEnd["finish"] | undefined;
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
    if (text || reasoning) await turn.appendDelta(text, reasoning);
  }
  turn.signal.throwIfAborted();
  return { finish: checkFinish(finish), toolCalls, replay };
}

function checkFinish(finish: Extract<ModelPart, { type: "finish" }> | undefined): ModelCallEnd["finish"] {
  if (!finish) throw createBrokenOffError();
  if (finish.reason === "content") {
    throw new ModelError("content", "The provider stopped the response because of its content policy.", {
      retryable: false,
      advice: "Rephrase the request, or use another model.",
    });
  }
  return finish;
}
