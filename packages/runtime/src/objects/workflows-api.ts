import type { PageQuery, StoredWorkflow, Workflow, WorkflowRun } from "@thinkery/sdk";
import { RpcTarget } from "cloudflare:workers";
import type { Workflows } from "../user/workflows.ts";

/** The workflows of a user, and their runs. */
export class WorkflowsApi extends RpcTarget {
  readonly #open: () => Promise<Workflows>;

  constructor(open: () => Promise<Workflows>) {
    super();
    this.#open = open;
  }

  async list(page: PageQuery): Promise<{ workflows: StoredWorkflow[]; next?: string }> {
    return (await this.#open()).list(page);
  }

  async get(name: string): Promise<Workflow> {
    return (await this.#open()).get(name);
  }

  async put(workflow: Workflow): Promise<StoredWorkflow> {
    return (await this.#open()).put(workflow);
  }

  async delete(name: string): Promise<void> {
    (await this.#open()).delete(name);
  }

  /** Called by an agency, until it succeeds. */
  async noteRun(run: WorkflowRun): Promise<void> {
    (await this.#open()).noteRun(run);
  }

  async listRuns(query: PageQuery & { status: string }): Promise<{ runs: WorkflowRun[]; next?: string }> {
    return (await this.#open()).listRuns(query);
  }
}
