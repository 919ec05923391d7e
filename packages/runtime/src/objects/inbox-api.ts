import type { ApprovalList, ApprovalQuery, PageQuery, QuestionList } from "@thinkery/sdk";
import { RpcTarget } from "cloudflare:workers";
import type { Inbox, InboxItem } from "../user/inbox.ts";

interface InboxParts {
  inbox: Inbox;
  /** Called when the number of pending items may have changed. */
  onChange(): void;
}

/** What the agents of a user wait for a person to answer. */
export class InboxApi extends RpcTarget {
  readonly #open: () => Promise<InboxParts>;

  constructor(open: () => Promise<InboxParts>) {
    super();
    this.#open = open;
  }

  /** Called by an agent, until it succeeds: replaces everything it had sent before. */
  async put(agent: string, items: InboxItem[]): Promise<void> {
    const { inbox, onChange } = await this.#open();
    if (inbox.put(agent, items)) onChange();
  }

  /** Called when an agent, or with `agency~` an agency, was deleted. */
  async forget(agent: string): Promise<void> {
    const { inbox, onChange } = await this.#open();
    inbox.forget(agent);
    onChange();
  }

  async findAgent(id: string): Promise<string | undefined> {
    return (await this.#open()).inbox.findAgent(id);
  }

  async listApprovals(query: ApprovalQuery, agency?: string): Promise<ApprovalList> {
    return (await this.#open()).inbox.listApprovals(query, agency);
  }

  async listQuestions(page: PageQuery, agency?: string): Promise<QuestionList> {
    return (await this.#open()).inbox.listQuestions(page, agency);
  }
}
