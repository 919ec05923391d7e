import type { Feedback, NewFeedback, PageQuery } from "@thinkery/sdk";
import { RpcTarget } from "cloudflare:workers";
import type { Actor } from "../agency/actor.ts";
import { FeedbackLog } from "../agency/feedback-log.ts";
import type { AgencyContext } from "./agency-feature.ts";

/** What the members of an agency think of how things go. What a deleted agent thought is kept. */
export class AgencyFeedback {
  readonly api: FeedbackApi;

  constructor({ storage, ...context }: AgencyContext) {
    this.api = new FeedbackApi({ ...context, log: new FeedbackLog(storage.sql) });
  }
}

interface FeedbackApiOptions extends Pick<AgencyContext, "open" | "publish" | "redactor"> {
  log: FeedbackLog;
}

export class FeedbackApi extends RpcTarget {
  readonly #options: FeedbackApiOptions;

  constructor(options: FeedbackApiOptions) {
    super();
    this.#options = options;
  }

  async list(page: PageQuery): Promise<{ feedback: Feedback[]; next?: string }> {
    await this.#options.open();
    return this.#options.log.list(page);
  }

  /** The same key of the same author is the same feedback. */
  async create(
    { message, rating }: NewFeedback,
    by: Actor,
    { key, runId }: { runId?: string; key?: string | undefined } = {},
  ): Promise<Feedback> {
    const { open, redactor, log, publish } = this.#options;
    await open();
    const { feedback, isNew } = log.add({ message: redactor.redactValue(message), rating }, by, {
      runId,
      ...(key === undefined ? {} : { key: `${by.kind}:${by.name}:${key}` }),
    });
    if (isNew) publish(() => ({ type: "changed", what: "feedback" }));
    return feedback;
  }
}
