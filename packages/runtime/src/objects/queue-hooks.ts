import type { TurnQueueOptions } from "../turn/admission/turn-queue.ts";
import type { AgencyBudgetClient } from "./agency-budget-client.ts";
import type { AssignmentFeature } from "./assignment-feature.ts";
import type { CodeFeature } from "./code-feature.ts";
import type { DiskQuota } from "./disk-quota.ts";
import type { Heartbeat } from "./heartbeat.ts";
import type { SubagentsFeature } from "./subagents-feature.ts";
import type { LeaseClient } from "./subagents/lease-client.ts";
import type { TurnLease } from "./turn-lease.ts";

interface HookedParts {
  heartbeat: Heartbeat;
  subagents: SubagentsFeature;
  assignment: AssignmentFeature;
  code: CodeFeature;
  turnLease: TurnLease;
  budgetClient: AgencyBudgetClient;
  lease: LeaseClient | undefined;
  disk: DiskQuota;
}

type Hooks = Pick<
  TurnQueueOptions,
  "createEndEvents" | "onTurnEnd" | "onPaused" | "onStopped" | "onBusy" | "onIdle" | "batches" | "getConcurrency"
>;

/** Creates what the parts of an agent do when its turns begin, wait and end. The parts are created after this. */
export function createQueueHooks(isRoot: boolean, parts: () => HookedParts): Hooks {
  const logLeaseError = (error: unknown) => console.error("the lease of a turn could not be updated", error);
  return {
    createEndEvents: (runId) => parts().subagents.createEndEvents(runId),
    onTurnEnd(runId) {
      const { subagents, assignment, code } = parts();
      subagents.onTurnEnd();
      assignment.onTurnEnd(runId);
      code.onTurnEnd(runId);
    },
    onPaused(reason) {
      const { subagents, assignment } = parts();
      if (reason === "subagent") subagents.update();
      assignment.tick(Date.now());
    },
    onStopped: () => parts().subagents.update(),
    onBusy() {
      const { heartbeat, assignment, turnLease } = parts();
      void heartbeat.begin();
      assignment.onTurnResumed();
      turnLease.renew().catch(logLeaseError);
    },
    onIdle() {
      const { budgetClient, lease, turnLease, disk } = parts();
      budgetClient.releaseAll();
      lease?.releaseAll();
      // A sub-agent uses the lease of its root agent, which may go on.
      if (isRoot) turnLease.release().catch(logLeaseError);
      disk.reportChange().catch((error: unknown) => console.error("disk usage could not be reported", error));
    },
    batches: () => parts().code.batches,
    getConcurrency: () => parts().code.concurrency,
  };
}
