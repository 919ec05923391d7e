import type { WorkflowRun } from "@thinkery/sdk";
import { RpcTarget } from "cloudflare:workers";
import type { AgencyWorkflow, RunRequest } from "./agency-workflow.ts";

/** The run of a workflow that an agency is. */
export class WorkflowApi extends RpcTarget {
  readonly #open: () => Promise<AgencyWorkflow>;

  constructor(open: () => Promise<AgencyWorkflow>) {
    super();
    this.#open = open;
  }

  async describe(): Promise<WorkflowRun> {
    return (await this.#open()).describe();
  }

  async prepare(request: RunRequest): Promise<WorkflowRun> {
    return (await this.#open()).prepare(request);
  }

  async kickOff(): Promise<WorkflowRun> {
    return (await this.#open()).kickOff();
  }

  async stop(by: string): Promise<WorkflowRun> {
    return (await this.#open()).stop(by);
  }

  async resume(by: string): Promise<WorkflowRun> {
    return (await this.#open()).resume(by);
  }

  async waitForEnd(): Promise<WorkflowRun> {
    return (await this.#open()).waitForEnd();
  }

  async follow(): Promise<ReadableStream<Uint8Array>> {
    return (await this.#open()).follow();
  }
}
