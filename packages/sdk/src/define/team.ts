import type { ChannelMessageList, PostedMessage } from "../protocol/channel.ts";
import type { Priority } from "../protocol/choices.ts";
import type { InboxItem } from "../protocol/inbox.ts";
import type { Resource } from "../protocol/resource.ts";
import type { NewTeamTask, TeamTask, TeamTaskList } from "../protocol/team-task.ts";
import type { Feedback, NewFeedback } from "../protocol/team.ts";

/** A message to the other members of the agency. */
export interface TeamMessage {
  content: string;
  /** Agents that get it, in addition to those it mentions. */
  to?: readonly string[] | undefined;
  /** Defaults to the channel general. `@bob` writes to bob alone. */
  channel?: string | undefined;
  thread?: string | undefined;
  priority?: Priority | undefined;
}

export interface ChannelPage {
  channel?: string | undefined;
  since?: string | undefined;
  limit?: number | undefined;
  thread?: string | undefined;
}

/** Documents that the members of the agency share, by their paths. */
export interface TeamDocuments {
  list(): Promise<{ name: string; size: number; modifiedAt: string }[]>;
  read(name: string): Promise<string>;
  /** Throws if `isNew` and there is such a document. */
  write(name: string, content: string, options?: { isNew?: boolean }): Promise<{ version: number | undefined }>;
  append(name: string, content: string): Promise<{ version: number | undefined }>;
}

/** The agency of the agent that called the tool. A call that is repeated has its effect once. */
export interface Team {
  send(message: TeamMessage): Promise<PostedMessage>;
  readChannel(page: ChannelPage): Promise<ChannelMessageList>;
  /** Returns the open items of the agent's inbox. */
  listInbox(): Promise<InboxItem[]>;
  ack(ack: { ids?: string[] | undefined; until?: string | undefined }): Promise<InboxItem[]>;
  defer(defer: { id: string; until?: string | number | undefined }): Promise<InboxItem>;
  setStatus(status: { status: string; task?: string | undefined }): Promise<void>;
  leaveFeedback(feedback: NewFeedback): Promise<Feedback>;
  documents: TeamDocuments;
  createResource(content: string, type?: string): Promise<Resource>;
  readResource(id: string): Promise<{ resource: Resource; content: Uint8Array }>;
  listTasks(): Promise<TeamTaskList>;
  createTask(task: Partial<NewTeamTask> & Pick<NewTeamTask, "title">): Promise<TeamTask>;
  claimTask(id: string): Promise<TeamTask>;
  completeTask(
    id: string,
    end: { status?: "complete" | "failed" | "cancelled"; result?: string; error?: string },
  ): Promise<TeamTask>;
}
