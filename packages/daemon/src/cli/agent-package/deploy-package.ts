import type { Deploy, NewDeploy } from "@thinkery/sdk";
import type { Cli } from "../cli.ts";
import { connect } from "../connect.ts";
import { type Bundle, createBundler } from "./bundle.ts";
import { updateTypes } from "./editor-types.ts";
import { type AgentPackage, readPackage } from "./read-package.ts";

/** Bundles and deploys a package. `dir` is its folder as the user wrote it. */
export async function deployPackage(
  cli: Cli,
  dir: string,
  { agency, dryRun }: { agency: string; dryRun: boolean },
): Promise<Deploy> {
  const source = await readPackage(cli.cwd, dir);
  await updateTypes(source.folder, cli.entry);
  const bundler = await createBundler(source, dir);
  const bundle = await bundler.bundle().finally(() => bundler.close());
  const { client } = await connect(cli);
  const body = { ...createDeploy(source, bundle), dryRun };
  const deploy = await client.call("deployPackage", { params: { agency }, body });
  return { ...deploy, warnings: [...bundle.warnings, ...deploy.warnings] };
}

/** Creates the request that deploys a package. */
export function createDeploy(
  { name, description, manifest }: AgentPackage,
  { code, sourceMap }: Bundle,
): Omit<NewDeploy, "dryRun" | "createAgent"> {
  return { name, description, manifest, code, ...(sourceMap === undefined ? {} : { sourceMap }) };
}
