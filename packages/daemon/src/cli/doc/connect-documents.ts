import { isThinkeryError, parseFilePath } from "@thinkery/sdk";
import type { Client, Documents } from "@thinkery/sdk/client";
import { type AgencyFlags, getAgency } from "../agency-option.ts";
import { explainMissingAgency } from "../agents.ts";
import type { Cli } from "../cli.ts";
import { connect } from "../connect.ts";

export const nameHelp = "name of the document; may have folders, as notes/plan.md";

/** Works with the documents of the agency that `-a` names. If there is no such agency, the error suggests one. */
export async function withDocuments<T>(
  cli: Cli,
  flags: AgencyFlags,
  work: (documents: Documents, agency: string) => Promise<T>,
): Promise<T> {
  const agency = getAgency(cli, flags);
  const { client } = await connect(cli);
  return work(client.documents(agency), agency).catch((error: unknown) => rethrow(client, agency, error));
}

async function rethrow(client: Client, agency: string, error: unknown): Promise<never> {
  throw await explainMissingAgency(client, agency, error);
}

/** Accepts a trailing slash, for folders. */
export const toDocumentPath = (name: string) => parseFilePath(name.replace(/(?<=.)\/+$/, ""));

export const isMissing = (error: unknown) => isThinkeryError(error) && error.code === "not_found";
