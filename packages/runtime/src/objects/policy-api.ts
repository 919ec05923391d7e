import { fail, type Grant, type Policy } from "@thinkery/sdk";
import { RpcTarget } from "cloudflare:workers";
import type { AgencyPolicy } from "../agency/policy.ts";
import { bumpRevision } from "../agency/revision.ts";
import { validateRules } from "../policy/validate-rules.ts";

interface PolicyParts {
  policy: AgencyPolicy;
  /** The agency's key. */
  agency: string;
}

/** An agency's rules for all of its agents, and the approvals that were given for good. */
export class PolicyApi extends RpcTarget {
  readonly #open: () => Promise<PolicyParts>;

  constructor(open: () => Promise<PolicyParts>) {
    super();
    this.#open = open;
  }

  async get(): Promise<Policy> {
    return (await this.#open()).policy.get();
  }

  async put(rules: Policy): Promise<Policy> {
    const { policy, agency } = await this.#open();
    validateRules(rules.rules, ["rules"]);
    policy.put(rules);
    bumpRevision(agency);
    return policy.get();
  }

  async listGrants(): Promise<Grant[]> {
    return (await this.#open()).policy.listGrants();
  }

  /** Called by an agent when a person has approved calls like these for good. */
  async addGrants(grants: Omit<Grant, "createdAt">[]): Promise<void> {
    const { policy, agency } = await this.#open();
    policy.addGrants(grants);
    bumpRevision(agency);
  }

  async removeGrant(id: string): Promise<void> {
    const { policy, agency } = await this.#open();
    if (!policy.removeGrant(id)) throw fail("not_found", "Grant not found.");
    bumpRevision(agency);
  }
}
