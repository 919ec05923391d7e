import type { Result } from "@thinkery/sdk/react";
import { SubagentLink } from "../../subagents/subagent-link.tsx";
import { useSubagents } from "../../subagents/subagents-context.ts";
import { isEmptyObject, readField, readTextField } from "../call/input.ts";
import { Part } from "../call/part.tsx";
import { sanitizeText } from "../call/sanitize-text.ts";
import { type CardBodyProps, defineCard } from "./define-card.tsx";
import { FileResult } from "./file-result.tsx";

interface StatusInput {
  hint: string;
}

export const card = defineCard<StatusInput>({
  name: "subagent-status",
  tools: ["checkSubagentStatus", "waitForSubagents"],
  icon: "agent",
  parse(input) {
    const taskId = readTextField(input, "taskId");
    if (taskId !== undefined) return { hint: taskId };
    return isEmptyObject(input) ? { hint: "all" } : undefined;
  },
  hint: ({ hint }) => hint,
  showDuration: true,
  Body: StatusBody,
});

/** What the model got to know about each sub-agent, or the text if it is something else. */
function StatusBody({ call: { result }, agency, agent, blobs }: CardBodyProps<StatusInput>) {
  const subagents = useSubagents();
  const statuses = parseStatuses(result);
  if (!statuses) return <FileResult result={result} blobs={blobs} />;
  return statuses.map(({ taskId, status, text }) => {
    const subagent = subagents.find((one) => one.taskId === taskId);
    const title = (
      <>
        {subagent ? <SubagentLink agency={agency} agent={agent} subagent={subagent} /> : sanitizeText(taskId)}{" "}
        <span className="task-status">{sanitizeText(status)}</span>
      </>
    );
    return (
      <Part key={taskId} title={title} {...(status === "failed" ? { tone: "bad" } : {})}>
        {sanitizeText(text) || "(no report)"}
      </Part>
    );
  });
}

interface ShownStatus {
  taskId: string;
  status: string;
  /** The report, the error, or what it does. */
  text: string;
}

function parseStatuses(result: Result | undefined): ShownStatus[] | undefined {
  if (!result || result.failed) return undefined;
  try {
    const output: unknown = JSON.parse(result.output);
    const list = readField(output, "subagents");
    const statuses = (Array.isArray(list) ? list : [output]).map(toStatus);
    const isComplete = statuses.length > 0 && statuses.every((status) => status !== undefined);
    return isComplete ? statuses : undefined;
  } catch {
    return undefined;
  }
}

function toStatus(value: unknown): ShownStatus | undefined {
  const [taskId, status] = [readTextField(value, "taskId"), readTextField(value, "status")];
  if (taskId === undefined || status === undefined) return undefined;
  const text = ["result", "error", "activity"].map((name) => readTextField(value, name)).find(Boolean) ?? "";
  return { taskId, status, text };
}
