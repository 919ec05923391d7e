import type { ChatMessage, Message } from "@thinkery/sdk";
import type { AgentStore } from "./agent-store.ts";

/** Maximum messages included in the agent's full state; `A/messages` pages through all of them. */
const maxMessages = 1000;

/** Returns the latest part of the conversation, oldest first, in the common chat format. */
export function listChatMessages(store: AgentStore): ChatMessage[] {
  const { messages } = store.messages.page({ limit: maxMessages });
  return messages.filter(({ status }) => status !== "error").map(toChatMessage);
}

function toChatMessage({ role, content, toolCalls, toolResult }: Message): ChatMessage {
  return {
    role,
    content,
    ...(toolCalls ? { toolCalls: toolCalls.map(({ id, name, input }) => ({ id, name, args: input })) } : {}),
    ...(toolResult ? { toolCallId: toolResult.callId } : {}),
  };
}
