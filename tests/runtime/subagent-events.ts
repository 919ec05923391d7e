import type { EventData, ForkMerge, NewEvent } from "@thinkery/sdk";
import type { Random } from "../kit/random.ts";

/** Returns a function that generates random but valid events about sub-agents, one group at a time. */
export function createSubagentEvents(chance: Random, id: (kind: string) => string) {
  const subagents: { taskId: string; actions: number; isFork: boolean; state: "active" | "merging" | "over" }[] = [];

  function change(runId: string | undefined): NewEvent[] {
    const known = chance.chance(0.7) ? subagents.at(-1 - chance.below(Math.min(3, subagents.length || 1))) : undefined;
    if (!known) return spawn(runId);
    const child = { childThreadId: `a~b/subagent-${known.taskId}`, taskId: known.taskId };
    if (known.state === "over") {
      const message = chance.chance(0.5) ? { messageId: id("notice"), content: chance.text(20) } : {};
      return chance.pick<NewEvent[]>([
        [
          {
            type: "subagent.closed",
            data: { ...child, ...spend(), ...(known.isFork ? { merge: createMerge(child.taskId) } : {}) },
          },
        ],
        [{ type: "subagent.deleted", data: { ...child, ...spend() } }],
        [{ type: "subagent.spent", data: { ...child, ...spend() } }],
        [
          {
            type: "subagent.delivered",
            data: { runId: runId ?? "none", step: 1, taskIds: [known.taskId], ...message },
          },
        ],
      ]);
    }
    if (chance.chance(0.4)) {
      const action = { agent: child.childThreadId, number: ++known.actions, callId: id("call"), toolName: "echo" };
      const outcome = chance.pick([{ summary: chance.text(9) }, { error: "It did not work." }]);
      const { usage } = spend();
      return [
        {
          type: "subagent.action",
          data: { ...child, ...action, action: "echo", input: "{}", ms: 2.4, ...outcome, ...(usage ? { usage } : {}) },
        },
      ];
    }
    if (chance.chance(0.3)) return [{ type: "subagent.spent", data: { ...child, ...spend() } }];
    if (chance.chance(0.3)) return [{ type: "subagent.started", data: child }];
    if (known.state === "active" && chance.chance(0.3)) {
      const waitingFor = chance.pick(["approval", "question", undefined] as const);
      return [{ type: "subagent.waiting", data: { ...child, ...(waitingFor ? { waitingFor } : {}) } }];
    }
    const isReport = known.isFork && known.state === "active" && chance.chance(0.7);
    known.state = isReport ? "merging" : "over";
    const status = chance.pick(["complete", "failed", "cancelled", "interrupted"] as const);
    const result = status === "complete" ? { result: chance.text(20), resultBlob: id("blob"), resultBytes: 9 } : {};
    const costUsd = chance.pick([0.01, null]);
    const end = { status, steps: 2, ms: 5, usage: { calls: 2, inputTokens: 10, outputTokens: 5, costUsd }, ...result };
    if (isReport) return [{ type: "subagent.reported", data: { ...child, ...end } }];
    const merge = known.isFork ? { merge: createMerge(child.taskId) } : {};
    return [
      {
        type: "subagent.completed",
        data: { ...child, ...end, ...merge, ...(status === "cancelled" ? { unconfirmed: true } : { error: "gone" }) },
      },
    ];
  }

  function spend(): Partial<EventData["subagent.spent"]> {
    if (chance.chance(0.3)) return {};
    const costUsd = chance.pick([0.5, 0.25]);
    const amounts = { calls: chance.below(9), inputTokens: chance.below(900), outputTokens: chance.below(90), costUsd };
    const reserved = { steps: chance.below(2), tokens: 500, costUsd: 0.5 };
    return { usage: amounts, days: [{ day: `2026-11-1${chance.below(3)}`, ...amounts, unknown: 0 }], reserved };
  }

  function createMerge(taskId: string): ForkMerge {
    const isMerged = chance.chance(0.5);
    const check = { command: "true", exitCode: isMerged ? 0 : 1, output: chance.text(9) };
    return {
      branch: `subagent-${taskId}`,
      into: "main",
      isMerged,
      ...(isMerged ? { version: 3 } : { reason: "It failed." }),
      changes: [{ path: "a", kind: "edit" }],
      overlaps: [{ path: "a", line: 2, reason: chance.text(9) }],
      check,
    };
  }

  function spawn(runId: string | undefined): NewEvent[] {
    const taskId = id("delegated");
    const isFork = chance.chance(0.5);
    subagents.push({ taskId, actions: 0, isFork, state: "active" });
    return [
      {
        type: "subagent.spawned",
        data: {
          childThreadId: `a~b/subagent-${taskId}`,
          facetName: `subagent-${taskId}`,
          taskId,
          token: id("token"),
          ...(runId ? { runId, callId: id("call") } : {}),
          agentType: "think",
          title: chance.text(9),
          message: chance.text(30),
          from: { user: "owner", context: {} },
          wait: chance.chance(0.5),
          ...(isFork
            ? { workspace: "fork" as const, branch: `subagent-${taskId}`, check: "true" }
            : { workspace: "shared" as const }),
          timeoutMs: 1000,
          ...(chance.chance(0.3) ? { queued: true } : {}),
        },
      },
    ];
  }

  return change;
}
