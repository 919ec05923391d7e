import { type NewEvent, type SentMessage, type Task, taskStatuses, taskTypes } from "@thinkery/sdk";
import type { Random } from "../kit/random.ts";
import { createReplyEvents } from "./reply-events.ts";
import { createSubagentEvents } from "./subagent-events.ts";
import { createWaitEvents } from "./wait-events.ts";

const usage = { inputTokens: 10, outputTokens: 5, costUsd: 0.001 };

interface Call {
  messageId: string;
  attempt: number;
}

interface Turn {
  runId: string;
  step: number;
  attempt: number;
  crashes: number;
  /** The model call in progress. */
  call?: Call;
  /** The message that code is writing. */
  reply?: string;
  /** Tool calls without a result, and all that were started. */
  open: string[];
  started: Set<string>;
  /** Calls whose result was deferred. */
  deferred: Set<string>;
  paused: boolean;
  answered: boolean;
  /** Messages that joined the turn and were not delivered yet. */
  waiting: string[];
}

/** Generates random but valid agent histories, one group of events at a time. */
export function createEventGenerator(chance: Random) {
  let idCount = 0;
  const id = (kind: string) => `${kind}-${++idCount}`;
  const replies = createReplyEvents(chance, id);
  const queue: { runId: string; first: boolean }[] = [];
  let turn: Turn | undefined;

  const createMessage = (): SentMessage => ({
    id: id("message"),
    role: "user",
    content: chance.text(1 + chance.below(40)),
    ...(chance.chance(0.2) ? { attachments: [{ blob: id("blob"), mediaType: "image/png", size: 7 }] } : {}),
  });

  function accept(): NewEvent[] {
    const messages = Array.from({ length: 1 + chance.below(2) }, createMessage);
    const from = { user: "owner", context: { userAgent: chance.pick(["curl", "page"]) } };
    const joins = turn !== undefined && chance.chance(0.4);
    const mode = joins ? "steer" : chance.pick(["queue", "interrupt"] as const);
    const runId = joins && turn ? turn.runId : id("turn");
    if (joins) turn?.waiting.push(...messages.map((message) => message.id));
    else queue.push({ runId, first: mode === "interrupt" });
    return [
      {
        type: "request.accepted",
        data: {
          runId,
          idempotencyKey: id("key"),
          mode,
          ...(joins ? { joined: true } : {}),
          position: 0,
          from,
          messages,
        },
      },
    ];
  }

  function start(): NewEvent[] {
    const next = queue.findLast(({ first }) => first) ?? queue[0];
    if (!next) return accept();
    queue.splice(queue.indexOf(next), 1);
    turn = {
      runId: next.runId,
      step: 0,
      attempt: 0,
      crashes: 0,
      open: [],
      started: new Set(),
      deferred: new Set(),
      paused: false,
      answered: false,
      waiting: [],
    };
    return [
      { type: "run.started", data: { runId: next.runId, model: "scripted:x", boot: "b" } },
      { type: "agent.started", data: { runId: next.runId } },
    ];
  }

  /** The next events of a running turn. */
  function advance(current: Turn): NewEvent[] {
    const { runId } = current;
    if (current.call) return streamModelCall(current, current.call);
    if (current.reply !== undefined) return replies.write(current, current.reply);
    if (current.open.length > 0) return useTool(current);
    if (current.answered && current.waiting.length === 0)
      return end({ type: "agent.completed", data: { runId, result: "done" } });
    current.step++;
    current.answered = false;
    const delivered = current.waiting.splice(0);
    const begun: NewEvent[] = [
      ...(delivered.length > 0 ? [{ type: "message.delivered", data: { runId, messageIds: delivered } } as const] : []),
      { type: "run.tick", data: { runId, step: current.step } },
    ];
    if (chance.chance(0.2)) return [...begun, replies.start(current)];
    current.call = { messageId: id("answer"), attempt: 1 };
    return [
      ...begun,
      {
        type: "model.started",
        data: { runId, step: current.step, messageId: current.call.messageId, model: "scripted:x", attempt: 1 },
      },
    ];
  }

  function streamModelCall(current: Turn, call: Call): NewEvent[] {
    const { runId, step } = current;
    if (chance.chance(0.1)) {
      return [
        {
          type: "model.generated",
          data: {
            runId,
            step,
            role: "fast",
            model: "scripted:y",
            purpose: "check",
            usage: { ...usage, costUsd: chance.pick([0.002, null]) },
            ms: 7.6,
          },
        },
      ];
    }
    if (chance.chance(0.5)) {
      const text = {
        delta: chance.text(chance.below(30)),
        ...(chance.chance(0.3) ? { reasoning: chance.text(chance.below(4000)) } : {}),
      };
      return [{ type: "model.delta", data: { runId, ...text } }];
    }
    if (chance.chance(0.15)) {
      call.attempt++;
      call.messageId = id("answer");
      return [
        {
          type: "model.failed",
          data: { runId, step, attempt: call.attempt - 1, kind: "network", error: "gone", retryInMs: 5 },
        },
        {
          type: "model.started",
          data: { runId, step, messageId: call.messageId, model: "scripted:x", attempt: call.attempt },
        },
      ];
    }
    const toolCalls = Array.from({ length: chance.pick([0, 0, 1, 1, 3]) }, () => ({
      id: id("call"),
      name: "echo",
      input: { text: chance.text(5) },
    }));
    if (chance.chance(0.1)) return compact(current);
    delete current.call;
    current.open = toolCalls.map((toolCall) => toolCall.id);
    current.answered = toolCalls.length === 0;
    const hasPrice = chance.chance(0.8);
    return [
      {
        type: "model.completed",
        data: {
          runId,
          step,
          messageId: call.messageId,
          model: "scripted:x",
          finish: "stop",
          usage: { ...usage, costUsd: hasPrice ? usage.costUsd : null },
          ms: 3,
          toolCalls,
          ...(chance.chance(0.3) ? { replay: { kept: true } } : {}),
          context: { used: 15, limit: 1000, model: "scripted:x" },
        },
      },
    ];
  }

  /** Compaction before a model call. */
  function compact({ runId, step }: Turn): NewEvent[] {
    const data = { runId, step, shortened: ++idCount * 1000, before: 900, after: 300 };
    if (chance.chance(0.4)) return [{ type: "context.compacted", data }];
    const request = chance.chance(0.3) ? { request: chance.text(20) } : {};
    return [
      {
        type: "model.generated",
        data: { runId, step, role: "summarizer", model: "scripted:short", purpose: "summary", usage, ms: 2 },
      },
      { type: "context.compacted", data: { ...data, upTo: idCount * 1000, summary: chance.text(40), ...request } },
    ];
  }

  /** Code of a tool call uses a capability, with or without an answer. */
  function callCapability({ runId, step }: Turn, parentCallId: string): NewEvent[] {
    const call = { runId, parentCallId, callId: id("inner"), toolName: "fetch" };
    const result = chance.pick([{ summary: "GET → 200" }, { error: "denied", errorCode: "denied" } as const]);
    return [
      { type: "capability.called", data: { ...call, step, args: { url: chance.text(9) } } },
      ...(chance.chance(0.8)
        ? [{ type: "capability.answered", data: { ...call, ms: 1.4, action: "fetch", ...result } } as const]
        : []),
    ];
  }

  function useTool(current: Turn): NewEvent[] {
    const { runId, step } = current;
    if (!current.paused && current.open.every((callId) => current.deferred.has(callId))) {
      current.paused = true;
      return [{ type: "run.paused", data: { runId, reason: "deferred" } }];
    }
    const callId = chance.pick(current.open);
    if (current.started.has(callId) && !current.deferred.has(callId) && chance.chance(0.2))
      return callCapability(current, callId);
    if (current.started.has(callId) && !current.deferred.has(callId) && chance.chance(0.3)) {
      current.deferred.add(callId);
      return [
        { type: "tool.deferred", data: { runId, callId, toolName: "echo", ms: chance.below(3), action: "echo" } },
      ];
    }
    if (!current.started.has(callId) && chance.chance(0.8)) {
      current.started.add(callId);
      return [
        {
          type: "tool.started",
          data: { runId, step, callId, toolName: "echo", args: { text: "sk-0123456789abcdefghij" }, idempotent: true },
        },
      ];
    }
    current.open = current.open.filter((other) => other !== callId);
    const resumed = current.paused && current.open.length === 0;
    if (resumed) current.paused = false;
    return [
      ...settleCall(current, callId),
      ...(resumed
        ? [
            {
              type: "run.resumed",
              data: { runId, reason: "resolved", attempt: 0, crashes: 0, boot: id("boot") },
            } as const,
          ]
        : []),
    ];
  }

  function settleCall(current: Turn, callId: string): NewEvent[] {
    const { runId } = current;
    const common = {
      runId,
      callId,
      toolName: "echo",
      messageId: `${callId}-result`,
      ms: chance.below(4) / 2,
      action: "echo",
    };
    if (!current.started.has(callId) || chance.chance(0.3))
      return [{ type: "tool.error", data: { ...common, error: "It did not work.", errorCode: "threw" } }];
    const big = chance.chance(0.3) ? { blob: id("blob"), mediaType: "text/plain" } : {};
    const output = chance.text(20);
    const effects: NewEvent[] = [
      { type: "todos.updated", data: { todos: [{ content: output, status: "pending" }] } },
      { type: "title.set", data: { title: chance.text(8) } },
    ];
    return [
      ...effects.filter(() => chance.chance(0.3)),
      {
        type: "tool.output",
        data: {
          ...common,
          output,
          result: { callId, name: "echo", summary: output, preview: output, size: output.length, ...big },
        },
      },
    ];
  }

  function changeState(): NewEvent[] {
    const [middlewareName, key] = [chance.pick(["audit", "limits"]), chance.pick(["a", "b"])];
    return [
      {
        type: "middleware.state_changed",
        data: { middlewareName, key, ...(chance.chance(0.7) ? { value: { n: chance.below(9) } } : {}) },
      },
    ];
  }

  function changeApp(): NewEvent[] {
    if (chance.chance(0.3)) return [{ type: "app.removed", data: { by: "owner" } }];
    const blob = id("blob");
    return [
      {
        type: "app.set",
        data: {
          version: blob,
          blob,
          main: "main.ts",
          modules: chance.pick([[], ["a.ts", "b.ts"]]),
          bytes: chance.below(99),
          by: "owner",
        },
      },
    ];
  }

  const changeSubagent = createSubagentEvents(chance, id);
  const changeWait = createWaitEvents(chance, id);

  const tasks: string[] = [];

  function changeTask(): NewEvent[] {
    const known = tasks.slice(-5);
    const dependencies = known.filter(() => chance.chance(0.2));
    const runId = turn?.runId;
    if (known.length > 0 && chance.chance(0.5)) {
      const status = chance.pick(taskStatuses);
      const fields = [
        { status },
        { status, result: chance.text(9), completedAt: ++idCount },
        { status, error: "broken" },
        { status: "in_progress", startedAt: ++idCount, assignedTo: "subagent-x" } as const,
        { dependencies },
      ];
      return [{ type: "task.updated", data: { taskId: chance.pick(known), ...chance.pick(fields) } }];
    }
    const parentId = chance.chance(0.4) ? chance.pick([...known, "lost"]) : runId;
    const task: Task = {
      id: id("task"),
      ...(parentId ? { parentId } : {}),
      type: chance.pick(taskTypes),
      title: chance.text(8),
      ...(chance.chance(0.3) ? { description: chance.text(20) } : {}),
      status: "pending",
      dependencies,
      createdAt: ++idCount,
      ...(chance.chance(0.3) ? { metadata: { callId: "c" } } : {}),
    };
    tasks.push(task.id);
    return [{ type: "task.created", data: { task, ...(runId ? { runId } : {}) } }];
  }

  function end(ending: NewEvent): NewEvent[] {
    const current = turn as Turn;
    turn = undefined;
    const { runId } = current;
    const requeued = id("turn");
    if (current.waiting.length > 0) queue.push({ runId: requeued, first: false });
    return [
      ...current.open.map((callId): NewEvent => ({
        type: "tool.error",
        data: {
          runId,
          callId,
          toolName: "echo",
          messageId: `${callId}-result`,
          error: "Over.",
          errorCode: "canceled",
          ms: 0,
          action: "cancel",
        },
      })),
      ...(current.waiting.length > 0
        ? [
            {
              type: "message.requeued",
              data: { runId: requeued, fromRunId: runId, messageIds: current.waiting },
            } as const,
          ]
        : []),
      ending,
    ];
  }

  return {
    /** Recovers a running turn, as after a crash. */
    resume(): NewEvent[] {
      if (!turn || turn.paused) return [];
      delete turn.call;
      delete turn.reply;
      return [
        {
          type: "run.resumed",
          data: {
            runId: turn.runId,
            reason: "recovered",
            attempt: ++turn.attempt,
            crashes: ++turn.crashes,
            boot: id("boot"),
          },
        },
      ];
    },
    /** The next group of events. */
    next(): NewEvent[] {
      if (chance.chance(0.1)) return accept();
      if (chance.chance(0.05)) return changeState();
      if (chance.chance(0.05)) return changeApp();
      if (chance.chance(0.1)) return changeTask();
      if (chance.chance(0.1)) return changeSubagent(turn?.runId);
      if (!turn) {
        const dropped = chance.chance(0.1) ? queue.shift() : undefined;
        return dropped ? [{ type: "run.canceled", data: { runId: dropped.runId, reason: "canceled" } }] : start();
      }
      const { runId } = turn;
      if (chance.chance(0.08)) return changeWait(runId);
      if (chance.chance(0.03)) return end({ type: "run.canceled", data: { runId, reason: "canceled" } });
      if (chance.chance(0.02))
        return end({ type: "agent.error", data: { runId, error: "Broken.", code: "internal", advice: "Again." } });
      return advance(turn);
    },
    /** The next group of events on the way to idle; empty once idle. */
    finish(): NewEvent[] {
      if (turn) return advance(turn);
      return queue.length > 0 ? start() : [];
    },
  };
}
