import type {
  ChannelMessageList,
  ChannelQuery,
  Feedback,
  InboxAck,
  InboxDefer,
  InboxItem,
  NewChannelMessage,
  NewFeedback,
  NewTeamTask,
  PostedMessage,
  Resource,
  TaskChange,
  TeamDocuments,
  TeamTask,
  TeamTaskList,
} from "@thinkery/sdk";

/** What a turn needs of its agent's agency. The same key twice is the same change. */
export interface TeamPort {
  post(channel: string, message: NewChannelMessage): Promise<PostedMessage>;
  readChannel(channel: string, query: ChannelQuery): Promise<ChannelMessageList>;
  listInbox(): Promise<InboxItem[]>;
  ack(ack: InboxAck): Promise<InboxItem[]>;
  defer(defer: InboxDefer): Promise<InboxItem[]>;
  setStatus(note: string, task: string | undefined): Promise<void>;
  leaveFeedback(feedback: NewFeedback, runId: string, key: string): Promise<Feedback>;
  /** Opens the documents for one call, which is the origin of its changes. Each of them gets a key. */
  openDocuments(call: { runId: string; callId: string; tool: string; createKey(): string }): TeamDocuments;
  createResource(content: string, type: string | undefined): Promise<Resource>;
  readResource(id: string): Promise<{ resource: Resource; content: Uint8Array }>;
  listTasks(): Promise<TeamTaskList>;
  createTask(task: NewTeamTask, key: string): Promise<TeamTask>;
  claimTask(id: string): Promise<TeamTask>;
  updateTask(id: string, change: TaskChange): Promise<TeamTask>;
}
