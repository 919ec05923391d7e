import type { Mode } from "../protocol/choices.ts";
import type { AgentEvent, EventData, EventType } from "../protocol/event.ts";
import type { ChatFrame } from "../protocol/frame.ts";
import type { Message, MessageToolCall } from "../protocol/message.ts";
import type { Run } from "../protocol/turn.ts";
import type { Frame } from "./conversation.ts";

interface Turn {
  id: string;
  first: boolean;
}

/** An agent as its clients see it, for tests: the frames it would send and the history it would tell, without a model. */
export class AgentDouble {
  readonly events: AgentEvent[] = [];
  readonly messages: Message[] = [];
  draft: Message | undefined;
  running: string | undefined;
  queue: Turn[] = [];
  open: MessageToolCall[] = [];
  /** Calls that the code of the first open call has made and that have no answer. */
  within: { id: string; name: string }[] = [];
  /** The turn that ended last. */
  private last: Run | undefined;
  private readonly listeners = new Set<(frame: Frame) => void>();
  private readonly admitted = new Map<string, string>();
  private count = 0;

  /** What a client is sent on connecting, and from then on. */
  connect(after: number | undefined, listener: (frame: Frame) => void): () => void {
    if (after !== undefined) for (const event of this.events) if (event.seq > after) listener(event);
    const status = this.running ? "thinking" : "idle";
    const run: Run = this.running
      ? { runId: this.running, status: "running", step: 1 }
      : (this.last ?? { runId: "", status: "idle", step: 0 });
    listener({ type: "sync", state: { status, run, queued: this.queue.length }, last: this.events.at(-1)?.seq ?? 0 });
    listener({ type: "history", messages: this.readHistory(50) });
    if (this.draft) listener({ type: "pending-message", message: { ...this.draft } });
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  readHistory(limit: number): Message[] {
    const told = this.messages
      .filter(({ seq }) => seq !== undefined)
      .sort((one, other) => (one.seq ?? 0) - (other.seq ?? 0));
    return structuredClone([
      ...told.slice(-limit),
      ...this.messages.filter(({ seq, status }) => seq === undefined && status === "pending"),
    ]);
  }

  say(id: string, content: string, mode: Mode): void {
    const known = this.admitted.get(id);
    if (known) {
      const messages = this.messages.filter((message) => message.id === id);
      return this.send({
        type: "task-queued",
        id: messages[0]?.id ?? "",
        taskId: known,
        position: this.findPosition(known),
        messages: structuredClone(messages),
      });
    }
    const joined = mode === "steer" && this.running !== undefined;
    const runId = joined ? this.running! : this.createId("run");
    this.admitted.set(id, runId);
    const message: Message = { id, role: "user", status: "pending", content, timestamp: 1, runId, attempt: 1 };
    this.messages.push(message);
    if (!joined) this.queue.push({ id: runId, first: mode === "interrupt" });
    this.record("request.accepted", {
      runId,
      idempotencyKey: id,
      mode,
      joined,
      position: 0,
      from: { user: "test", context: {} },
      messages: [{ id, role: "user", content }],
    });
    this.send({
      type: "task-queued",
      id: message.id,
      taskId: runId,
      position: this.findPosition(runId),
      messages: [{ ...message }],
    });
    if (joined) return;
    if (mode === "interrupt" && this.running) this.cancel(this.running);
    this.wake();
  }

  wake(): void {
    const [next] = this.listQueue();
    if (this.running || !next) return;
    this.queue = this.queue.filter((turn) => turn !== next);
    this.running = next.id;
    this.record("run.started", { runId: next.id, model: "double", boot: "1" });
    this.take(({ runId }) => runId === next.id);
    this.send({ type: "status", status: "thinking" });
  }

  startStep(): void {
    if (!this.running || this.draft || this.open.length > 0) return;
    const joined = this.listJoined();
    if (joined.length > 0) {
      this.record("message.delivered", { runId: this.running, messageIds: joined.map(({ id }) => id) });
      this.take((message) => joined.includes(message));
    }
    const id = this.createId("message");
    this.draft = {
      id,
      role: "assistant",
      status: "streaming",
      content: "",
      timestamp: 1,
      runId: this.running,
      attempt: 1,
    };
    this.record("model.started", { runId: this.running, step: 1, messageId: id, model: "double", attempt: 1 });
    this.send({ type: "status", status: "thinking" });
  }

  stream(text: string, reasoning: string): void {
    if (!this.draft) return;
    const { id: messageId } = this.draft;
    this.draft.content += text;
    if (reasoning) this.draft.reasoning = (this.draft.reasoning ?? "") + reasoning;
    this.draft.reasoningFullSize = this.draft.reasoning?.length ?? 0;
    if (reasoning) this.send({ type: "reasoning", content: reasoning, messageId });
    if (text) this.send({ type: "text_delta", delta: text, messageId });
    this.record("model.delta", { runId: this.draft.runId, delta: text, reasoning });
  }

  finishStep(tools: readonly string[]): void {
    if (!this.draft || !this.running) return;
    const toolCalls = tools.map((name) => ({ id: this.createId("call"), name, input: { name } }));
    const message: Message = { ...this.draft, status: "complete", ...(tools.length > 0 ? { toolCalls } : {}) };
    const usage = { inputTokens: 1, outputTokens: 1, costUsd: 0 };
    this.draft = undefined;
    const seq = this.record("model.completed", {
      runId: this.running,
      step: 1,
      messageId: message.id,
      model: "double",
      finish: "stop",
      usage,
      ms: 1,
      toolCalls,
    });
    this.messages.push({ ...message, seq: seq * 1000 });
    if (message.content) this.send({ type: "text_done", messageId: message.id });
    this.send({ type: "message-complete", message: { ...message, seq: seq * 1000 } });
    for (const { id, name, input } of toolCalls) this.send({ type: "tool_call", id, name, input, runId: this.running });
    this.open = [...toolCalls];
    if (toolCalls.length > 0 || this.listJoined().length > 0) return;
    const runId = this.running;
    this.running = undefined;
    this.last = { runId, status: "completed", step: 1 };
    this.record("agent.completed", { runId, result: message.content });
    this.send({ type: "task-complete", taskId: runId }, { type: "status", status: "idle" });
    this.wake();
  }

  answerTool(output: string, failed: boolean): void {
    const call = this.open.shift();
    if (!call || !this.running) return;
    this.within = [];
    const messageId = this.createId("message");
    const result = {
      callId: call.id,
      name: call.name,
      summary: output,
      preview: output,
      size: output.length,
      ...(failed ? { failed } : {}),
    };
    const base = { runId: this.running, callId: call.id, toolName: call.name, messageId, ms: 1, action: "did" };
    const seq = failed
      ? this.record("tool.error", { ...base, error: output, errorCode: "threw" })
      : this.record("tool.output", { ...base, output, result });
    this.messages.push({
      id: messageId,
      role: "tool",
      status: "complete",
      content: output,
      toolResult: result,
      timestamp: 1,
      runId: this.running,
      attempt: 1,
      seq: seq * 1000,
    });
    this.send({
      type: "tool_result",
      callId: call.id,
      name: call.name,
      output,
      ...(failed ? { failed } : {}),
      runId: this.running,
    });
  }

  /** The first open call shows what it does. */
  show(text: string, callId = this.open[0]?.id): void {
    if (this.running && callId !== undefined) this.send({ type: "tool_progress", callId, text, runId: this.running });
  }

  /** Its code calls something. */
  callWithin(name: string, args: unknown): void {
    const [call] = this.open;
    if (!this.running || !call) return;
    const made = { id: this.createId(`${call.id}.`), name };
    this.within.push(made);
    this.record("capability.called", {
      runId: this.running,
      step: 1,
      parentCallId: call.id,
      callId: made.id,
      toolName: name,
      args,
    });
  }

  /** Something that its code called answers; the latest first, if asked so. */
  answerWithin(answer: string, { failed = false, latest = false } = {}): void {
    const [call] = this.open;
    const made = latest ? this.within.pop() : this.within.shift();
    if (!this.running || !call || !made) return;
    const came = failed ? ({ error: answer, errorCode: "threw" } as const) : { summary: answer };
    this.record("capability.answered", {
      runId: this.running,
      parentCallId: call.id,
      callId: made.id,
      toolName: made.name,
      ms: 1,
      action: "did",
      ...came,
    });
  }

  /** The provider failed; the same step is tried again. */
  retryStep(): void {
    if (!this.draft || !this.running) return;
    const id = this.createId("message");
    this.record("model.failed", {
      runId: this.running,
      step: 1,
      attempt: 1,
      kind: "overloaded",
      error: "busy",
      retryInMs: 10,
    });
    this.send({ type: "task-retrying", taskId: this.running, error: "busy", attempt: 1, retryIn: 10 });
    this.draft = {
      id,
      role: "assistant",
      status: "streaming",
      content: "",
      timestamp: 1,
      runId: this.running,
      attempt: 2,
    };
    this.record("model.started", { runId: this.running, step: 1, messageId: id, model: "double", attempt: 2 });
    this.send({ type: "status", status: "thinking" });
  }

  /** The host died: nobody is connected any more, and the step begins anew. */
  crash(): void {
    this.listeners.clear();
    this.nap();
  }

  /** The object was put to sleep and woken: its clients are still there, but the step begins anew. */
  nap(): void {
    if (!this.running) return;
    this.draft = undefined;
    this.record("run.resumed", { runId: this.running, reason: "recovered", attempt: 1, crashes: 1, boot: "2" });
  }

  fail(error: string): void {
    if (!this.running) return;
    const runId = this.running;
    while (this.open.length > 0) this.answerTool("canceled", true);
    this.requeue(runId);
    this.draft = undefined;
    this.running = undefined;
    this.last = { runId, status: "error", step: 1, reason: error };
    const seq = this.record("agent.error", { runId, error, code: "model_auth", advice: "Set a key." });
    this.messages.push({
      id: `${runId}-error`,
      role: "assistant",
      status: "error",
      content: "",
      error,
      timestamp: 1,
      runId,
      attempt: 1,
      seq: seq * 1000,
    });
    this.send(
      { type: "error", error, code: "model_auth", advice: "Set a key." },
      { type: "task-failed", taskId: runId, error, attempts: 1 },
      { type: "status", status: "idle" },
    );
    this.wake();
  }

  cancel(runId: string | undefined): void {
    if (runId === undefined) return;
    const own = runId === this.running;
    this.last = { runId, status: "canceled", step: own ? 1 : 0 };
    if (own) while (this.open.length > 0) this.answerTool("canceled", true);
    if (own) this.requeue(runId);
    const partial = own && this.draft?.content ? { ...this.draft, status: "cancelled" as const } : undefined;
    const seq = this.record("run.canceled", { runId });
    if (partial) {
      this.messages.push({ ...partial, seq: seq * 1000 });
      this.send({ type: "message-complete", message: { ...partial, seq: seq * 1000 } });
    }
    for (const message of this.messages) {
      if (message.runId !== runId || message.seq !== undefined) continue;
      Object.assign(message, { status: "cancelled", seq: seq * 1000 });
      this.send({ type: "message-complete", message: { ...message } });
    }
    this.queue = this.queue.filter(({ id }) => id !== runId);
    if (own) {
      this.draft = undefined;
      this.running = undefined;
    }
    this.send({ type: "task-canceled", taskId: runId }, { type: "status", status: "idle" });
    this.wake();
  }

  /** A fact that readers are told between the messages. */
  note(hook: string): void {
    if (!this.running) return;
    if (hook === "")
      this.record("context.compacted", {
        runId: this.running,
        step: 1,
        shortened: 0,
        before: 900,
        after: 200,
        summary: "short",
      });
    else this.record("middleware.failed", { runId: this.running, step: 1, middlewareName: "spy", hook, error: "no" });
  }

  clear(): void {
    if (this.running) return;
    this.messages.length = 0;
    this.last = undefined;
    this.record("history.cleared", { by: "test", usage: [] });
    this.send({ type: "history", messages: [] });
  }

  private listJoined(): Message[] {
    return this.messages.filter(
      ({ runId, seq, status }) => runId === this.running && seq === undefined && status === "pending",
    );
  }

  /** What joined a turn that ends is not lost. */
  private requeue(fromRunId: string): void {
    const messages = this.listJoined();
    if (messages.length === 0) return;
    const runId = this.createId("run");
    this.record("message.requeued", { runId, fromRunId, messageIds: messages.map(({ id }) => id) });
    for (const message of messages) {
      message.runId = runId;
      this.admitted.set(message.id, runId);
    }
    this.queue.push({ id: runId, first: false });
  }

  /** Interrupts first, the latest of them foremost. */
  private listQueue(): Turn[] {
    return [...this.queue.filter(({ first }) => first).toReversed(), ...this.queue.filter(({ first }) => !first)];
  }

  private findPosition(runId: string): number {
    const index = this.listQueue().findIndex(({ id }) => id === runId);
    return index < 0 ? 0 : index + (this.running ? 1 : 0);
  }

  private take(chosen: (message: Message) => boolean): void {
    const seq = this.events.at(-1)?.seq ?? 0;
    let place = 0;
    for (const message of this.messages) {
      if (message.seq !== undefined || !chosen(message)) continue;
      message.seq = seq * 1000 + place++;
      message.status = "complete";
    }
  }

  private record<T extends EventType>(type: T, data: EventData[T]): number {
    const seq = this.events.length + 1;
    const event = { type, data, seq, ts: new Date(seq).toISOString(), threadId: "double" } as AgentEvent;
    this.events.push(event);
    for (const listener of this.listeners) listener(event);
    return seq;
  }

  private send(...frames: ChatFrame[]): void {
    for (const frame of frames) for (const listener of this.listeners) listener(structuredClone(frame));
  }

  private createId(kind: string): string {
    return `${kind}-${++this.count}`;
  }
}
