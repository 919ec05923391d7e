import type { WorkflowRun } from "@thinkery/sdk";
import { RpcTarget } from "cloudflare:workers";
import type { RunRequest } from "../agency/team/run-request.ts";
import type { AgencyWorkflow } from "./agency-workflow.ts";
import type { Credential, CredentialWatch } from "./credential-watch.ts";

/** The run of a workflow that an agency is. */
export class WorkflowApi extends RpcTarget {
  readonly #open: () => Promise<AgencyWorkflow>;

  readonly #credentialWatch: CredentialWatch;

  constructor(open: () => Promise<AgencyWorkflow>, credentialWatch: CredentialWatch) {
    super();
    this.#open = open;
    this.#credentialWatch = credentialWatch;
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

  /** The stream ends with the run, or with the credential of its reader. */
  async follow(credentials: readonly Credential[]): Promise<ReadableStream<Uint8Array>> {
    const workflow = await this.#open();
    let release: (() => void) | undefined;
    const stream = workflow.follow(() => release?.());
    if (!stream.isEnded()) release = this.#credentialWatch.watchStream(credentials, () => stream.end());
    return stream.body;
  }
}
