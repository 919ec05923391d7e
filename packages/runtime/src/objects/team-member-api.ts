import { RpcTarget } from "cloudflare:workers";
import type { AgentActivity } from "../agency/team/agent-activity.ts";
import type { Delivery } from "../agency/team/deliveries.ts";
import type { AgentParts } from "./assemble-agent.ts";
import { followWork } from "./broadcasts.ts";
import type { Credential, CredentialWatch } from "./credential-watch.ts";

/** An agent as its agency sees it. */
export class TeamMemberApi extends RpcTarget {
  readonly #open: () => Promise<AgentParts>;
  readonly #credentialWatch: CredentialWatch;

  constructor(open: () => Promise<AgentParts>, credentialWatch: CredentialWatch) {
    super();
    this.#open = open;
    this.#credentialWatch = credentialWatch;
  }

  async deliver(delivery: Delivery): Promise<{ runId: string }> {
    return (await this.#open()).team.deliver(delivery);
  }

  async getActivity(): Promise<AgentActivity> {
    return (await this.#open()).team.getActivity();
  }

  /** Streams what the agent does from now on, in whatever turns, as events of a job. */
  async followWork(name: string, credentials: readonly Credential[]): Promise<ReadableStream<Uint8Array>> {
    const { store, broadcaster } = await this.#open();
    let release: (() => void) | undefined;
    const stream = followWork(store, broadcaster, name, () => release?.());
    release = this.#credentialWatch.watchStream(credentials, () => stream.end());
    return stream.body;
  }
}
