import type { NewEvent } from "@thinkery/sdk";
import type { Random } from "../kit/random.ts";

/** Generates approvals and other waits of turns, and what resolves them. */
export function createWaitEvents(chance: Random, id: (kind: string) => string) {
  const asked: { runId: string; approvalId: string; calls: string[] }[] = [];
  const waits: { runId: string; continuationId: string; callId: string }[] = [];

  function ask(runId: string): NewEvent[] {
    const approvalId = id("approval");
    const calls = Array.from({ length: 1 + chance.below(3) }, () => id("asked"));
    asked.push({ runId, approvalId, calls });
    const proposedToolCalls = calls.map((callId) => ({
      callId,
      toolName: "writeFile",
      args: { path: chance.text(5) },
      why: "A rule asks.",
      ...(chance.chance(0.5) ? { preview: { kind: "command", command: chance.text(9) } as const } : {}),
      ...(chance.chance(0.3) ? { remember: "ls *" } : {}),
    }));
    const data = { runId, step: 1, approvalId, proposedToolCalls, digest: id("digest"), expiresAt: createTime(chance) };
    return [{ type: "hitl.interrupt", data }];
  }

  function decide(): NewEvent[] {
    const approval = chance.pick(asked);
    const { runId, approvalId } = approval;
    const expired = chance.chance(0.2);
    const some = approval.calls.filter(() => chance.chance(0.6));
    const chosen = expired || some.length === 0 ? approval.calls : some;
    approval.calls = approval.calls.filter((callId) => !chosen.includes(callId));
    if (approval.calls.length === 0) asked.splice(asked.indexOf(approval), 1);
    const decisions = chosen.map((callId) => ({
      callId,
      approved: !expired && chance.chance(0.6),
      ...(chance.chance(0.2) ? { input: { path: "x" } } : {}),
      ...(chance.chance(0.2) ? { reason: chance.text(5) } : {}),
    }));
    const answer = expired ? { expired } : { by: "owner", ...(chance.chance(0.3) ? { reason: "why" } : {}) };
    const approved = decisions.some((decision) => decision.approved);
    return [{ type: "hitl.resume", data: { runId, approvalId, approved, decisions, ...answer } }];
  }

  function wait(runId: string): NewEvent[] {
    const continuationId = id("continuation");
    const callId = id("waiting");
    waits.push({ runId, continuationId, callId });
    const kinds = [
      { kind: "input", prompt: chance.text(9), schema: { type: "string" } },
      { kind: "webhook", hook: "deploy" },
      { kind: "timer", dueAt: createTime(chance), state: { n: 1 } },
    ] as const;
    const data = { runId, callId, toolName: "askUser", continuationId, ...chance.pick(kinds) };
    return [{ type: "continuation.created", data }];
  }

  function resolve(): NewEvent[] {
    const resolved = chance.pick(waits);
    waits.splice(waits.indexOf(resolved), 1);
    const answer = chance.chance(0.7) ? { value: chance.text(5), by: "owner" } : {};
    return [{ type: "continuation.resolved", data: { ...resolved, ...answer } }];
  }

  return (runId: string): NewEvent[] => {
    if (asked.length > 0 && chance.chance(0.4)) return decide();
    if (waits.length > 0 && chance.chance(0.3)) return resolve();
    return chance.chance(0.5) ? ask(runId) : wait(runId);
  };
}

const createTime = (chance: Random) => new Date(1_800_000_000_000 + chance.below(1000) * 1000).toISOString();
