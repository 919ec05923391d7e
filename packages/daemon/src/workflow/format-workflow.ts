import type { Workflow } from "@thinkery/sdk";
import { stringify } from "yaml";

/** Formats a workflow as a file. */
export const formatWorkflow = (workflow: Workflow) => stringify(workflow).trimEnd();
