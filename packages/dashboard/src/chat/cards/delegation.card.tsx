import { DescriptionList } from "../../parts/description-list.tsx";
import { describeWork, isWorking } from "../../subagents/describe-work.ts";
import { MergeReport } from "../../subagents/merge-report.tsx";
import { SubagentLink } from "../../subagents/subagent-link.tsx";
import { useSubagents } from "../../subagents/subagents-context.ts";
import { readTextField } from "../call/input.ts";
import { DownloadLink, Part } from "../call/part.tsx";
import { sanitizeText } from "../call/sanitize-text.ts";
import { type CardBodyProps, defineCard } from "./define-card.tsx";
import { FileResult } from "./file-result.tsx";

interface DelegationInput {
  hint: string;
  /** The task, if it existed before. */
  taskId: string | undefined;
  type: string | undefined;
  assignment: string;
}

export const card = defineCard<DelegationInput>({
  name: "delegation",
  tools: ["task", "delegateToSubagent"],
  icon: "agent",
  parse(input) {
    const [description, taskId] = [readTextField(input, "description"), readTextField(input, "taskId")];
    const [title, context] = [readTextField(input, "title"), readTextField(input, "context")];
    const subject = title ?? description ?? taskId;
    if (subject === undefined) return undefined;
    const type = readTextField(input, "subagentType");
    return {
      hint: type === undefined ? subject : `${type}: ${subject}`,
      taskId,
      type,
      assignment: [title, description, context].filter(Boolean).join("\n\n"),
    };
  },
  hint: ({ hint }) => hint,
  showDuration: true,
  Body: DelegationBody,
});

/** The assignment, who works on it, and the report once there is one. */
function DelegationBody({ input, call: { id, name, result }, agency, agent, blobs }: CardBodyProps<DelegationInput>) {
  const { assignment, taskId, type } = input;
  const subagent = useSubagents().find((one) => one.callId === id || (taskId !== undefined && one.taskId === taskId));
  const isFailed = result?.failed === true;
  // The result of `task` is the report; that of `delegateToSubagent` only says that it has started.
  const report = name === "task" ? (isFailed ? undefined : result?.output) : subagent?.result;
  return (
    <>
      {assignment !== "" && <Part title="Assignment">{sanitizeText(assignment)}</Part>}
      {subagent ? (
        <DescriptionList
          of={[
            ["Sub-agent", <SubagentLink agency={agency} agent={agent} subagent={subagent} />],
            ["Type", subagent.agentType],
            ["Status", subagent.status],
            ...(isWorking(subagent) || subagent.status !== "complete"
              ? [[isWorking(subagent) ? "Now" : "Reason", sanitizeText(describeWork(subagent))] as const]
              : []),
            ...(subagent.branch !== undefined || subagent.merge
              ? [["Files", <MergeReport agency={agency} agent={agent} subagent={subagent} />] as const]
              : []),
          ]}
        />
      ) : (
        type !== undefined && <DescriptionList of={[["Type", sanitizeText(type)]]} />
      )}
      {report !== undefined && (
        <Part title="Report" more={result && name === "task" && <DownloadLink result={result} blobs={blobs} />}>
          {sanitizeText(report) || "(empty)"}
        </Part>
      )}
      {(isFailed || (name !== "task" && !subagent)) && <FileResult result={result} blobs={blobs} />}
    </>
  );
}
