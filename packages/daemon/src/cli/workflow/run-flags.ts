import { randomInt } from "node:crypto";
import { fail, findNameIssue, nameRules } from "@thinkery/sdk";
import { Option } from "commander";

export interface RunFlags {
  tag?: string;
  var?: string[];
  yes?: boolean;
}

export const createTagOption = (description = "tag of the run") =>
  new Option("--tag <tag>", description).argParser(parseTag);

export const createNewTagOption = () =>
  createTagOption("tag of the run; the same one again is the same agents (default: generated)");

export const createVarOption = () =>
  new Option("--var <name=value>", "value of a variable; can be repeated").argParser(
    (value: string, all: string[] | undefined) => [...(all ?? []), value],
  );

export const createYesOption = () =>
  new Option("-y, --yes", "run the setup of a workflow that a host elsewhere has stored, without asking");

function parseTag(tag: string): string {
  // The rule for agencies has room for both parts; a tag alone follows the one for workflows.
  const issue = findNameIssue(nameRules.workflow, tag);
  if (issue) throw fail("bad_request", `“${tag}” is not a tag: ${issue}.`);
  return tag;
}

const suffixLetters = "abcdefghjkmnpqrstuvwxyz23456789";
const suffixChars = 4;

/** Creates a tag that nobody has used, and that says when the run began: `2026-06-11-1425-k3fq`. */
export function createTag(now: Date): string {
  const pad = (value: number) => String(value).padStart(2, "0");
  const date = [now.getFullYear(), pad(now.getMonth() + 1), pad(now.getDate())];
  const time = `${pad(now.getHours())}${pad(now.getMinutes())}`;
  const suffix = Array.from({ length: suffixChars }, () => suffixLetters[randomInt(suffixLetters.length)]).join("");
  return [...date, time, suffix].join("-");
}
