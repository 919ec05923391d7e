import { fail, isThinkeryError, type Package } from "@thinkery/sdk";
import { type Client, withRetry } from "@thinkery/sdk/client";
import { findNearest } from "@thinkery/sdk/internal";
import type { AgentTarget } from "../target.ts";

/** Returns a package; if it does not exist, throws an error that suggests the closest name. */
export async function findPackage(client: Client, { agency, agent: name }: AgentTarget): Promise<Package> {
  try {
    return await withRetry((signal) => client.call("getPackage", { params: { agency, package: name }, signal }));
  } catch (error) {
    if (!isThinkeryError(error) || error.code !== "not_found") throw error;
    const { packages } = await client.call("listPackages", { params: { agency }, query: { limit: 500 } });
    const suggestion = findNearest(
      name,
      packages.map((each) => each.name),
    );
    const hint = suggestion ? `Did you mean ${suggestion}?` : "Deploy it with `thinkery agent deploy <dir>`.";
    throw fail("not_found", `No package “${name}” in ${agency}. ${hint}`, suggestion ? { suggestion } : {});
  }
}
