import { defaultChannel, type Team, type TeamDocuments, ToolError } from "@thinkery/sdk";
import type { StepContext } from "./step-context.ts";

const maxReadMessages = 30;

interface TeamCall {
  callId: string;
  toolName: string;
  /** The call whose code makes this one. */
  parentCallId?: string;
}

/** Opens the agent's agency for one tool call. */
export function openTeam(call: TeamCall, { deps, runId, record }: StepContext): Team {
  const { callId, toolName, parentCallId = callId } = call;
  const port = deps.team;
  // A call that a crash interrupted is executed again.
  const key = `call:${deps.sandboxKey}:${runId}:${callId}`;
  // A tool may make several changes of a kind in one call.
  const createKeys = () => {
    let changes = 0;
    return () => (++changes === 1 ? key : `${key}:${changes}`);
  };
  const createMessageKey = createKeys();
  const createFeedbackKey = createKeys();
  const createTaskKey = createKeys();
  let documents: TeamDocuments | undefined;
  return {
    send({ content, to, channel = defaultChannel, ...rest }) {
      record();
      return port.post(channel, {
        content,
        ...omitUndefined(rest),
        ...(to === undefined ? {} : { to: [...to] }),
        idempotencyKey: createMessageKey(),
      });
    },
    readChannel: ({ channel = defaultChannel, since, thread, limit = maxReadMessages }) =>
      port.readChannel(channel, {
        limit,
        ...omitUndefined({ since, thread }),
        ...(since === undefined ? { newest: "1" as const } : {}),
      }),
    listInbox: () => port.listInbox(),
    ack(ack) {
      record();
      return port.ack(omitUndefined(ack));
    },
    async defer(defer) {
      record();
      const [item] = await port.defer(omitUndefined(defer));
      if (!item) throw new ToolError("invalid_input", `“${defer.id}” is not open in your inbox.`);
      return item;
    },
    setStatus: ({ status, task }) => port.setStatus(status, task),
    leaveFeedback(feedback) {
      record();
      return port.leaveFeedback(feedback, runId, createFeedbackKey());
    },
    get documents() {
      record();
      return (documents ??= port.openDocuments({
        runId,
        callId: parentCallId,
        tool: toolName,
        createKey: createKeys(),
      }));
    },
    createResource(content, type) {
      record();
      return port.createResource(content, type);
    },
    readResource: (id) => port.readResource(id),
    listTasks: () => port.listTasks(),
    createTask({ type = "code", ...task }) {
      record();
      return port.createTask({ ...task, type }, createTaskKey());
    },
    claimTask(id) {
      record();
      return port.claimTask(id);
    },
    completeTask(id, { status = "complete", ...end }) {
      record();
      return port.updateTask(id, { status, ...end });
    },
  };
}

/** With `exactOptionalPropertyTypes`, an absent field and an undefined one differ. */
function omitUndefined<T extends object>(fields: T): { [Key in keyof T]: Exclude<T[Key], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never;
}
