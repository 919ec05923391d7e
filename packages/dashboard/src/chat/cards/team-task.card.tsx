import { type Task, taskStatuses } from "@thinkery/sdk";
import type { Call } from "@thinkery/sdk/react";
import { Link } from "../../frame/link.tsx";
import { buildPath } from "../../frame/navigation.ts";
import { TaskTree } from "../../tasks/task-tree.tsx";
import { isEmptyObject, readField, readTextField } from "../call/input.ts";
import { parseOutput, readItems } from "../call/parse-output.ts";
import { sanitizeText } from "../call/sanitize-text.ts";
import { type CardBodyProps, type CardState, defineCard } from "./define-card.tsx";
import { FileResult, InputFacts } from "./file-result.tsx";

interface TeamTaskInput {
  facts: [name: string, value: string][];
  hint: string;
}

export const card = defineCard<TeamTaskInput>({
  name: "team-task",
  tools: ["team_task_list", "team_task_create", "team_task_claim", "team_task_complete"],
  icon: "hourglass",
  parse(input) {
    if (isEmptyObject(input)) return { hint: "shared tasks", facts: [] };
    const [title, id] = [readTextField(input, "title"), readTextField(input, "id")];
    const subject = title ?? id;
    if (subject === undefined) return undefined;
    const status = readTextField(input, "status");
    const dependencies = readField(input, "dependencies");
    return {
      hint: [subject, status && status !== "complete" && `→ ${status}`].filter(Boolean).join(" "),
      facts: [
        ["Title", title ?? ""],
        ["Task", id ?? ""],
        ["Type", readTextField(input, "type") ?? ""],
        ["Status", status ?? ""],
        ["Description", readTextField(input, "description") ?? ""],
        ["After", Array.isArray(dependencies) ? dependencies.filter((one) => typeof one === "string").join(", ") : ""],
        ["Part of", readTextField(input, "parentId") ?? ""],
        ["Result", readTextField(input, "result") ?? ""],
        ["Error", readTextField(input, "error") ?? ""],
      ],
    };
  },
  hint: ({ hint }) => hint,
  state: getTaskState,
  Body: TeamTaskBody,
});

/** A task that somebody else has is not a failure of the tool. */
function getTaskState({ result }: Call): CardState | undefined {
  return result?.failed ? { text: "refused" } : undefined;
}

function TeamTaskBody({ input: { facts }, call: { result }, agency, blobs }: CardBodyProps<TeamTaskInput>) {
  const tasks = readItems(parseOutput(result), "tasks")?.flatMap(toTask) ?? [];
  return (
    <>
      <InputFacts of={facts} />
      {tasks.length > 0 ? (
        <TaskTree tasks={tasks} renderDetails={renderHolder} />
      ) : (
        <FileResult result={result} blobs={blobs} />
      )}
      <p>
        <Link href={`${buildPath(agency)}/~tasks`}>All shared tasks</Link>
      </p>
    </>
  );
}

function renderHolder({ assignedTo }: Task) {
  return assignedTo === undefined ? undefined : <p className="task-facts">claimed by {sanitizeText(assignedTo)}</p>;
}

function toTask(item: object): Task[] {
  const [id, title, parentId] = ["id", "title", "parentId"].map((name) => readTextField(item, name));
  const status = taskStatuses.find((one) => one === readTextField(item, "status"));
  if (id === undefined || title === undefined || status === undefined) return [];
  const claimedBy = readTextField(item, "claimedBy");
  return [
    {
      id,
      title,
      status,
      type: "code",
      dependencies: [],
      createdAt: 0,
      ...(parentId === undefined ? {} : { parentId }),
      ...(claimedBy === undefined ? {} : { assignedTo: claimedBy }),
    },
  ];
}
