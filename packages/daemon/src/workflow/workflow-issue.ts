import { fail, type ValidationIssue } from "@thinkery/sdk";

/** Something wrong with a workflow file, and where. */
export interface WorkflowIssue extends ValidationIssue {
  file: string;
  /** `line 3, column 5`. */
  position: string;
  offset: number;
}

/** More would not be read. */
const maxIssues = 50;

/** Creates one error for everything that is wrong with a workflow file, in the order of the file. */
export function createWorkflowError(issues: readonly WorkflowIssue[]): Error {
  const sorted = issues.toSorted((a, b) => a.offset - b.offset);
  const [first] = sorted;
  const listed = sorted.slice(0, maxIssues).map(({ path, message, file, position }) => ({
    path,
    message: `${message} (${file === first?.file ? "" : `${file}, `}${position})`,
  }));
  const hidden = sorted.length - listed.length;
  const more = hidden > 0 ? [{ path: [], message: `and ${hidden} more problems` }] : [];
  return fail("bad_request", first ? describe(first) : "The workflow is invalid.", { issues: [...listed, ...more] });
}

function describe({ file, position, path, message }: WorkflowIssue): string {
  const subject = path.length > 0 ? `${path.join(".")}: ` : "";
  return `${file}, ${position}: ${subject}${message}${/[.?!]$/.test(message) ? "" : "."}`;
}
