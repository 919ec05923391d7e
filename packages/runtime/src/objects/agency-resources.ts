import { fail, type NewResource, type Resource } from "@thinkery/sdk";
import { RpcTarget } from "cloudflare:workers";
import type { AgencyContext, AgencyFeature } from "./agency-feature.ts";

/** Large contents that the members of an agency share, by hash. */
export class AgencyResources implements AgencyFeature {
  readonly api = new ResourcesApi();

  constructor(_context: AgencyContext) {}

  forgetAgent(_name: string): void {}

  /** Stores a text, and returns its hash. The same text again is the same resource. */
  async store(_text: string, _createdBy: string): Promise<string> {
    throw fail("unavailable", "Resources are not there yet.");
  }
}

export class ResourcesApi extends RpcTarget {
  async create(_resource: NewResource, _createdBy: string): Promise<Resource> {
    throw fail("unavailable", "Resources are not there yet.");
  }

  async read(_id: string): Promise<{ resource: Resource; content: Uint8Array }> {
    throw fail("unavailable", "Resources are not there yet.");
  }
}
