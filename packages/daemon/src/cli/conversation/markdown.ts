import type { AgentExport, Message } from "@thinkery/sdk";
import { sanitize } from "../output.ts";

/** Renders an agent's conversation as Markdown. */
export function toMarkdown({ agent, title, messages }: Pick<AgentExport, "agent" | "title" | "messages">): string {
  const head = `# ${title ?? agent.name}\n\nConversation with ${agent.name} (${agent.agency}).\n`;
  return sanitize([head, ...messages.map(toSection)].join("\n"));
}

function toSection(message: Message): string {
  const { role, content, toolCalls = [], toolResult, error } = message;
  if (role === "tool" && toolResult) {
    return `**${toolResult.name}** ${toolResult.failed ? "failed" : "returned"}:\n\n${toFence(toolResult.preview || toolResult.summary)}`;
  }
  const calls = toolCalls.map(
    ({ name, input }) => `Calls **${name}**:\n\n${toFence(JSON.stringify(input, null, 2) ?? "", "json")}`,
  );
  const parts = [content, ...calls, ...(error ? [`*${error}*`] : [])].filter((part) => part !== "");
  const author = role !== "user" ? "Agent" : message.notice ? "Reports of sub-agents" : "You";
  return `## ${author}, ${new Date(message.timestamp).toISOString()}\n\n${parts.join("\n\n")}\n`;
}

// The fence is longer than any in the text, so that the text cannot close it.
function toFence(text: string, language = ""): string {
  const maxRun = Math.max(2, ...Array.from(text.matchAll(/`+/g), ([run]) => run.length));
  const fence = "`".repeat(maxRun + 1);
  return `${fence}${language}\n${text}\n${fence}\n`;
}
