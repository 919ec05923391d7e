import type { Mode } from "../protocol/choices.ts";
import type { AgentEvent, EventData, EventType } from "../protocol/event.ts";
import type { ChatFrame } from "../protocol/frame.ts";
import type { Message, MessageToolCall } from "../protocol/message.ts";
import type { Run } from "../protocol/turn.ts";
import type { Frame } from "./conversation.ts";

interface QueuedTurn {
  id: string;
  isInterrupt: boolean;
}

/** A test double of an agent without a model: the frames that it would send and its history. */
export class AgentDouble {
  readonly events: AgentEvent[] = [];
  readonly messages: Message[] = [];
  draft: Message | undefined;
  running: string | undefined;
  queue: QueuedTurn[] = [];
  openCalls: MessageToolCall[] = [];
  /** Calls made by the code of the first open call that have no result yet. */
  codeCalls: { id: string; name: string }[] = [];
  /** The turn that ended last. */
  private lastRun: Run | undefined;
  private readonly listeners = new Set<(frame: Frame) => void>();
  private readonly runIdByMessage = new Map<string, string>();
  private count = 0;

  /** Sends the initial frames to a new client, and all further ones. */
  connect(after: number | undefined, listener: (frame: Frame) => void): () => void {
    if (after !== undefined) for (const event of this.events) if (event.seq > after) listener(event);
    const status = this.running ? "thinking" : "idle";
    const run: Run = this.running
      ? { runId: this.running, status: "running", step: 1 }
      : (this.lastRun ?? { runId: "", status: "idle", step: 0 });
    listener({ type: "sync", state: { status, run, queued: this.queue.length }, last: this.events.at(-1)?.seq ?? 0 });
    listener({ type: "history", messages: this.readHistory(50) });
    if (this.draft) listener({ type: "pending-message", message: { ...this.draft } });
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  readHistory(limit: number): Message[] {
    const placed = this.messages
      .filter(({ seq }) => seq !== undefined)
      .sort((one, other) => (one.seq ?? 0) - (other.seq ?? 0));
    return structuredClone([
      ...placed.slice(-limit),
      ...this.messages.filter(({ seq, status }) => seq === undefined && status === "pending"),
    ]);
  }

  sendMessage(id: string, content: string, mode: Mode): void {
    const known = this.runIdByMessage.get(id);
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
    const isJoining = mode === "steer" && this.running !== undefined;
    const runId = isJoining ? this.running! : this.createId("run");
    this.runIdByMessage.set(id, runId);
    const message: Message = { id, role: "user", status: "pending", content, timestamp: 1, runId, attempt: 1 };
    this.messages.push(message);
    if (!isJoining) this.queue.push({ id: runId, isInterrupt: mode === "interrupt" });
    this.record("request.accepted", {
      runId,
      idempotencyKey: id,
      mode,
      joined: isJoining,
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
    if (isJoining) return;
    if (mode === "interrupt" && this.running) this.cancel(this.running);
    this.startNextTurn();
  }

  startNextTurn(): void {
    const [next] = this.listQueue();
    if (this.running || !next) return;
    this.queue = this.queue.filter((turn) => turn !== next);
    this.running = next.id;
    this.record("run.started", { runId: next.id, model: "double", boot: "1" });
    this.placeMessages(({ runId }) => runId === next.id);
    this.send({ type: "status", status: "thinking" });
  }

  startStep(): void {
    if (!this.running || this.draft || this.openCalls.length > 0) return;
    const joined = this.listJoined();
    if (joined.length > 0) {
      this.record("message.delivered", { runId: this.running, messageIds: joined.map(({ id }) => id) });
      this.placeMessages((message) => joined.includes(message));
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
    this.openCalls = [...toolCalls];
    if (toolCalls.length > 0 || this.listJoined().length > 0) return;
    const runId = this.running;
    this.running = undefined;
    this.lastRun = { runId, status: "completed", step: 1 };
    this.record("agent.completed", { runId, result: message.content });
    this.send({ type: "task-complete", taskId: runId }, { type: "status", status: "idle" });
    this.startNextTurn();
  }

  finishCall(output: string, failed: boolean): void {
    const call = this.openCalls.shift();
    if (!call || !this.running) return;
    this.codeCalls = [];
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

  /** Sends progress of the first open call. */
  sendProgress(text: string, callId = this.openCalls[0]?.id): void {
    if (this.running && callId !== undefined) this.send({ type: "tool_progress", callId, text, runId: this.running });
  }

  /** The code of the first open call makes a call. */
  callFromCode(name: string, args: unknown): void {
    const [call] = this.openCalls;
    if (!this.running || !call) return;
    const codeCall = { id: this.createId(`${call.id}.`), name };
    this.codeCalls.push(codeCall);
    this.record("capability.called", {
      runId: this.running,
      step: 1,
      parentCallId: call.id,
      callId: codeCall.id,
      toolName: name,
      args,
    });
  }

  /** A call made by code returns: the oldest one, or with `latest` the newest. */
  finishCodeCall(output: string, { failed = false, latest = false } = {}): void {
    const [call] = this.openCalls;
    const codeCall = latest ? this.codeCalls.pop() : this.codeCalls.shift();
    if (!this.running || !call || !codeCall) return;
    const outcome = failed ? ({ error: output, errorCode: "threw" } as const) : { summary: output };
    this.record("capability.answered", {
      runId: this.running,
      parentCallId: call.id,
      callId: codeCall.id,
      toolName: codeCall.name,
      ms: 1,
      action: "did",
      ...outcome,
    });
  }

  /** The provider fails, and the step is retried. */
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

  /** The host crashes: all clients are disconnected, and the step starts over. */
  crash(): void {
    this.listeners.clear();
    this.hibernate();
  }

  /** The object hibernates and wakes up: its clients stay connected, but the step starts over. */
  hibernate(): void {
    if (!this.running) return;
    this.draft = undefined;
    this.record("run.resumed", { runId: this.running, reason: "recovered", attempt: 1, crashes: 1, boot: "2" });
  }

  fail(error: string): void {
    if (!this.running) return;
    const runId = this.running;
    while (this.openCalls.length > 0) this.finishCall("canceled", true);
    this.requeue(runId);
    this.draft = undefined;
    this.running = undefined;
    this.lastRun = { runId, status: "error", step: 1, reason: error };
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
    this.startNextTurn();
  }

  cancel(runId: string | undefined): void {
    if (runId === undefined) return;
    const isRunning = runId === this.running;
    this.lastRun = { runId, status: "canceled", step: isRunning ? 1 : 0 };
    if (isRunning) while (this.openCalls.length > 0) this.finishCall("canceled", true);
    if (isRunning) this.requeue(runId);
    const partial = isRunning && this.draft?.content ? { ...this.draft, status: "cancelled" as const } : undefined;
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
    if (isRunning) {
      this.draft = undefined;
      this.running = undefined;
    }
    this.send({ type: "task-canceled", taskId: runId }, { type: "status", status: "idle" });
    this.startNextTurn();
  }

  /** Records a compaction, or the failure of a middleware hook. */
  addNote(hook: string): void {
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
    this.lastRun = undefined;
    this.record("history.cleared", { by: "test", usage: [] });
    this.send({ type: "history", messages: [] });
  }

  private listJoined(): Message[] {
    return this.messages.filter(
      ({ runId, seq, status }) => runId === this.running && seq === undefined && status === "pending",
    );
  }

  /** Queues the messages that joined a turn which ends without them. */
  private requeue(fromRunId: string): void {
    const messages = this.listJoined();
    if (messages.length === 0) return;
    const runId = this.createId("run");
    this.record("message.requeued", { runId, fromRunId, messageIds: messages.map(({ id }) => id) });
    for (const message of messages) {
      message.runId = runId;
      this.runIdByMessage.set(message.id, runId);
    }
    this.queue.push({ id: runId, isInterrupt: false });
  }

  /** Interrupts come first, the latest of them before the others. */
  private listQueue(): QueuedTurn[] {
    return [
      ...this.queue.filter(({ isInterrupt }) => isInterrupt).toReversed(),
      ...this.queue.filter(({ isInterrupt }) => !isInterrupt),
    ];
  }

  private findPosition(runId: string): number {
    const index = this.listQueue().findIndex(({ id }) => id === runId);
    return index < 0 ? 0 : index + (this.running ? 1 : 0);
  }

  private placeMessages(isChosen: (message: Message) => boolean): void {
    const seq = this.events.at(-1)?.seq ?? 0;
    let index = 0;
    for (const message of this.messages) {
      if (message.seq !== undefined || !isChosen(message)) continue;
      message.seq = seq * 1000 + index++;
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
