/** Valid bodies for the endpoints of teams, by endpoint. */
export const teamBodies: Record<string, unknown> = {
  createChannel: { name: "x" },
  postChannelMessage: { content: "hello" },
  ackInbox: { ids: ["msg-1"] },
  deferInbox: { id: "msg-1" },
  retryInbox: { ids: ["msg-1"] },
  createFeedback: { message: "good" },
  createTeamTask: { title: "Fix it" },
  updateTeamTask: { status: "complete" },
  claimTeamTask: {},
  createResource: { content: "x" },
  putAgencyTool: { tool: { name: "x", mock: 1 } },
  editDocuments: { edits: [{ write: "a.txt", content: "x" }] },
  revertDocuments: { version: 1, dryRun: true },
  putWorkflow: { name: "nobody", agents: { a: {} } },
  createWorkflowRun: { workflow: "nobody" },
};

/** Parts of their paths. */
export const teamParams = { channel: "general", tool: "x", workflow: "nobody" };
