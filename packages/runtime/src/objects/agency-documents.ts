import { fail, type TeamDocuments } from "@thinkery/sdk";
import { RpcTarget } from "cloudflare:workers";
import type { AgencyContext, AgencyFeature } from "./agency-feature.ts";

/** The call of an agent that changes documents. */
export interface DocumentCall {
  agent: string;
  runId: string;
  callId: string;
  tool: string;
}

/** The documents that the members of an agency share. */
export class AgencyDocuments implements AgencyFeature {
  readonly api = new DocumentsApi();

  constructor(_context: AgencyContext) {}

  forgetAgent(_name: string): void {}
}

export class DocumentsApi extends RpcTarget {
  /** Writes the documents that do not exist yet. */
  async seed(_documents: Record<string, string>, _user: string): Promise<void> {
    throw fail("unavailable", "Documents are not there yet.");
  }

  async listForAgent(): ReturnType<TeamDocuments["list"]> {
    throw fail("unavailable", "Documents are not there yet.");
  }
}

/** Opens the documents for one call of an agent. */
export function openDocuments(api: Pick<DocumentsApi, "listForAgent">, _call: DocumentCall): TeamDocuments {
  return {
    list: () => api.listForAgent(),
    read: () => Promise.reject(fail("unavailable", "Documents are not there yet.")),
    write: () => Promise.reject(fail("unavailable", "Documents are not there yet.")),
    append: () => Promise.reject(fail("unavailable", "Documents are not there yet.")),
  };
}
