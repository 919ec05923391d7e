import type { AgentExport, Message } from "@thinkery/sdk";
import { sanitize } from "../output.ts";

/** An agent's conversation as a document people can read. */
export function toMarkdown({ agent, title, messages }: Pick<AgentExport, "agent" | "title" | "messages">): string {
  const head = `# ${title ?? agent.name}\n\nA conversation with ${agent.name} (${agent.agency}).\n`;
  return sanitize([head, ...messages.map(toSection)].join("\n"));
}

function toSection(message: Message): string {
  const { role, content, toolCalls = [], toolResult, error } = message;
  if (role === "tool" && toolResult) {
    return `**${toolResult.name}** ${toolResult.failed ? "failed" : "answered"}:\n\n${toFence(toolResult.preview || toolResult.summary)}`;
  }
  const calls = toolCalls.map(
    ({ name, input }) => `Calls **${name}**:\n\n${toFence(JSON.stringify(input, null, 2) ?? "", "json")}`,
  );
  const parts = [content, ...calls, ...(error ? [`*${error}*`] : [])].filter((part) => part !== "");
  return `## ${role === "user" ? "You" : "Agent"}, ${new Date(message.timestamp).toISOString()}\n\n${parts.join("\n\n")}\n`;
}

// A fence longer than any inside, so that no text can end it.
function toFence(text: string, language = ""): string {
  const maxRun = Math.max(2, ...Array.from(text.matchAll(/`+/g), ([run]) => run.length));
  const fence = "`".repeat(maxRun + 1);
  return `${fence}${language}\n${text}\n${fence}\n`;
}
