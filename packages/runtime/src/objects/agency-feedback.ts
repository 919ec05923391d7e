import { fail, type Feedback, type NewFeedback } from "@thinkery/sdk";
import { RpcTarget } from "cloudflare:workers";
import type { AgencyContext, AgencyFeature } from "./agency-feature.ts";
import type { Actor } from "./team-actor.ts";

/** What the members of an agency think of how things go. */
export class AgencyFeedback implements AgencyFeature {
  readonly api = new FeedbackApi();

  constructor(_context: AgencyContext) {}

  forgetAgent(_name: string): void {}
}

export class FeedbackApi extends RpcTarget {
  async create(_feedback: NewFeedback, _by: Actor, _call?: { runId: string; key: string }): Promise<Feedback> {
    throw fail("unavailable", "Feedback is not there yet.");
  }
}
