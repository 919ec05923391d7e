import type { Answer, Approval, ApprovalAnswer, ApprovalList, ApprovalQuery, Run } from "@thinkery/sdk";
import { RpcTarget } from "cloudflare:workers";
import type { AgentParts } from "./assemble-agent.ts";

/** Approvals and questions of one agent. Nothing in here is reachable by the agent itself. */
export class WaitsApi extends RpcTarget {
  readonly #open: () => Promise<AgentParts>;

  constructor(open: () => Promise<AgentParts>) {
    super();
    this.#open = open;
  }

  /** Returns approvals, newest first. */
  async listApprovals({ status, id, limit, after }: ApprovalQuery): Promise<ApprovalList> {
    const { approvals } = (await this.#open()).store;
    if (id !== undefined) {
      const found = approvals.get(id);
      return { approvals: found ? [found] : [] };
    }
    return approvals.readPage({ status: status === "all" ? undefined : status, limit, after });
  }

  async answerApproval(answer: ApprovalAnswer, by: string): Promise<Approval> {
    const { waits, turnLease } = await this.#open();
    return turnLease.acquireFor(() => waits.answer(answer, by));
  }

  async answerQuestion(answer: Answer, by: string): Promise<Run> {
    const { turnWaits, turnLease } = await this.#open();
    return turnLease.acquireFor(async () => turnWaits.answerQuestion(answer, by));
  }
}
