import type { AgentEvent, SubagentFrame } from "@thinkery/sdk";
import type { AgentStore } from "../../store/agent-store.ts";
import { explainEnd } from "./format-report.ts";

const noFrames: readonly SubagentFrame[] = [];

/** Converts an event of a sub-agent to frames about its tools, tagged with its task. */
export function toToolFrames(event: AgentEvent, taskId: string): readonly SubagentFrame[] {
  switch (event.type) {
    case "model.completed":
    case "reply.completed":
      return event.data.toolCalls.map(({ name: toolName, input }) => ({
        type: "subagent_tool_call",
        taskId,
        toolName,
        input,
      }));
    case "tool.output":
      return [{ type: "subagent_tool_result", taskId, toolName: event.data.toolName, output: event.data.output }];
    case "tool.error":
      return [{ type: "subagent_tool_result", taskId, toolName: event.data.toolName, output: event.data.error }];
    default:
      return noFrames;
  }
}

/** Converts the report of a sub-agent that streams to a frame. */
export function toEndFrames(event: AgentEvent, { subagents }: Pick<AgentStore, "subagents">): readonly SubagentFrame[] {
  if (event.type !== "subagent.completed") return noFrames;
  const { taskId, status, result = "" } = event.data;
  if (!subagents.get(taskId)?.streaming) return noFrames;
  if (status === "complete") return [{ type: "subagent_complete", taskId, result }];
  return [{ type: "subagent_error", taskId, error: explainEnd(event.data) }];
}
