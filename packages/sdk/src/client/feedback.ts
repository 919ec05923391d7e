import type { BodyIn } from "../protocol/endpoint.ts";
import type { Endpoints } from "../protocol/endpoints.ts";
import type { Feedback } from "../protocol/team.ts";
import { createId } from "./create-id.ts";
import type { Transport } from "./transport.ts";
import { withRetry } from "./with-retry.ts";

/** What the agents and people of an agency think of how things go. */
export interface AgencyFeedback {
  /** Iterates over the feedback, newest first, loading pages as needed. */
  list(): AsyncGenerator<Feedback>;
  /** Leaves feedback. A rating is from 1 (bad) to 5 (good). */
  create(feedback: BodyIn<Endpoints["createFeedback"]>): Promise<Feedback>;
}

const maxPage = 500;

export function createAgencyFeedback(
  { call, retryTimeoutMs }: Pick<Transport, "call" | "retryTimeoutMs">,
  agency: string,
): AgencyFeedback {
  const params = { agency };
  const retry = <T>(request: (signal: AbortSignal) => Promise<T>) => withRetry(request, { retryTimeoutMs });
  return {
    async *list() {
      for (let after: string | undefined; ;) {
        const query = { limit: maxPage, ...(after === undefined ? {} : { after }) };
        const page = await retry((signal) => call("listFeedback", { params, query, signal }));
        yield* page.feedback;
        if (page.next === undefined) return;
        after = page.next;
      }
    },
    create(feedback) {
      const body = { ...feedback, idempotencyKey: feedback.idempotencyKey ?? createId() };
      return retry((signal) => call("createFeedback", { params, body, signal }));
    },
  };
}
