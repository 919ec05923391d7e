import type { AgentStore } from "../../store/agent-store.ts";
import type { TurnQueue } from "../../turn/admission/turn-queue.ts";
import type { AssignmentFeature, ParentStub } from "../assignment-feature.ts";
import { LeaseClient } from "./lease-client.ts";

interface LeaseContext {
  openParent(): Promise<ParentStub>;
  waitUntil(work: Promise<unknown>): void;
}

/** Opens what a sub-agent may spend of the budgets above it. */
export function openLease(
  store: AgentStore,
  { openParent, waitUntil }: LeaseContext,
  parts: () => { assignment: AssignmentFeature; queue: TurnQueue },
): LeaseClient {
  return new LeaseClient({
    store,
    task: () => parts().assignment,
    flush: () => void parts().queue.measureReserved(),
    openParent,
    onOver: (token) => parts().assignment.cancel(token),
    waitUntil,
  });
}
