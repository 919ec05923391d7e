import { createHash } from "node:crypto";
import {
  type AgentManifest,
  type Blueprint,
  createValidationError,
  type Deploy,
  fail,
  isThinkeryError,
  type NewDeploy,
  type Package,
  type PackageSummary,
  type PageQuery,
  ToolError,
} from "@thinkery/sdk";
import { RpcTarget } from "cloudflare:workers";
import { z } from "zod";
import { type Packages, packCode } from "../agency/packages.ts";
import { describeHandlerError } from "../drivers/isolate/code-error.ts";
import { type CodeVersion, summarizeTools } from "../drivers/isolate/code-version.ts";
import { handlerErrorSchema } from "../drivers/isolate/send-request.ts";
import { type CodeDescription, parseDescription } from "../sandbox/agent-description.ts";
import type { AgentCode } from "../sandbox/agent-run.ts";
import { type AgentSandbox, ProcessLostError } from "../sandbox/agent-sandbox.ts";

/** The parts of an agency that packages need. */
export interface PackagesHost {
  packages: Packages;
  owner: string;
  sandbox: AgentSandbox;
  findBlueprint(name: string): Blueprint | undefined;
  putBlueprint(blueprint: Blueprint): void;
  deleteBlueprint(name: string): void;
  /** Returns the blueprint of the agent with this name, if there is one. */
  findAgent(name: string): { name: string; blueprint: string } | undefined;
  createAgent(name: string, blueprint: string): Promise<void>;
  /** Called when the current version of a package has changed. */
  onChange(name: string): void;
}

/** The agent of the package's name, or why there is none. */
interface AddedAgent {
  agent?: { name: string; isNew: boolean };
  warning?: string;
}

const describeTimeoutMs = 10_000;

/** Deploys the code of agents. */
export class PackagesApi extends RpcTarget {
  readonly #open: () => Promise<PackagesHost>;

  constructor(open: () => Promise<PackagesHost>) {
    super();
    this.#open = open;
  }

  async list(page: PageQuery): Promise<{ packages: PackageSummary[]; next?: string }> {
    return (await this.#open()).packages.list(page);
  }

  async get(name: string): Promise<Package> {
    return (await this.#open()).packages.get(name);
  }

  /** Called by agents before a turn. */
  async find(name: string, version?: number): Promise<CodeVersion | undefined> {
    return (await this.#open()).packages.find(name, version);
  }

  async readCode(name: string, version: number): Promise<AgentCode> {
    return (await this.#open()).packages.readCode(name, version);
  }

  async deploy(deploy: NewDeploy, by: string): Promise<Deploy> {
    const host = await this.#open();
    const { name, code, sourceMap, manifest, dryRun } = deploy;
    const source: AgentCode = { code, ...(sourceMap === undefined ? {} : { sourceMap }) };
    const description = await describeCode(host, source);
    const known = host.findBlueprint(name);
    if (known && known.config?.isolate?.package.toLowerCase() !== name.toLowerCase())
      throw fail("conflict", `There is a blueprint “${known.name}” that is no package. Rename the package, or it.`);
    const former = host.packages.find(name);
    const hash = hashCode(source, manifest);
    const isNew = former?.hash !== hash;
    const content = isNew && !dryRun ? await packCode(source) : undefined;
    const bytes = Buffer.byteLength(code);
    const summary = deploy.description;
    const version = content
      ? host.packages.put({ name, hash, bytes, summary, manifest, description, content, by })
      : former?.version;
    const { agent, warning } = await this.#addAgent(host, deploy);
    if (content) host.onChange(name);
    const before = former?.capabilities ?? [];
    const { capabilities } = manifest;
    return {
      id: name,
      name,
      version: (isNew && dryRun ? undefined : version) ?? (former?.version ?? 0) + 1,
      isNew,
      capabilities,
      added: capabilities.filter((capability) => !before.includes(capability)),
      removed: before.filter((capability) => !capabilities.includes(capability)),
      tools: summarizeTools(description),
      settings: Object.keys({ ...manifest.settings, ...description.settings }),
      bytes,
      blueprint: name,
      ...(agent ? { agent } : {}),
      warnings: [...(warning ? [warning] : []), ...listWarnings(deploy, description)],
      dryRun,
    };
  }

  async rollBack(name: string, version?: number): Promise<Package> {
    const host = await this.#open();
    const former = host.packages.rollBack(name, version);
    const current = host.packages.get(name);
    if (current.version !== former) host.onChange(current.name);
    return current;
  }

  async delete(name: string): Promise<void> {
    const host = await this.#open();
    const deleted = host.packages.delete(name);
    if (host.findBlueprint(deleted)?.config?.isolate?.package === deleted) host.deleteBlueprint(deleted);
  }

  /** Adds the blueprint, and an agent of the package's name; both unless they exist. */
  async #addAgent(
    host: PackagesHost,
    { name, description, manifest, createAgent, dryRun }: NewDeploy,
  ): Promise<AddedAgent> {
    if (!dryRun && !host.findBlueprint(name)) host.putBlueprint(createBlueprint(name, description, manifest));
    const existing = host.findAgent(name);
    if (existing?.blueprint.toLowerCase() === name.toLowerCase())
      return { agent: { name: existing.name, isNew: false } };
    if (existing)
      return {
        warning: `There is an agent “${name}” with the blueprint “${existing.blueprint}”. Create one for the package: \`thinkery new <name> --blueprint ${name}\`.`,
      };
    if (!createAgent) return {};
    try {
      if (!dryRun) await host.createAgent(name, name);
      return { agent: { name, isNew: true } };
    } catch (error) {
      if (!isThinkeryError(error)) throw error;
      return { warning: `No agent was created. ${error.message}` };
    }
  }
}

function createBlueprint(name: string, description: string, { displayName }: AgentManifest): Blueprint {
  return {
    name,
    description: description || (displayName ?? ""),
    prompt: "",
    tags: ["default"],
    driver: "isolate",
    config: { isolate: { package: name } },
  };
}

/** Loads the code once, and asks it what it is. */
async function describeCode({ sandbox, owner }: PackagesHost, source: AgentCode): Promise<CodeDescription> {
  const timeout = new AbortController();
  const timer = setTimeout(
    () => timeout.abort(fail("bad_request", `The code did not load within ${describeTimeoutMs / 1000} s.`)),
    describeTimeoutMs,
  );
  try {
    const outcome = await sandbox.send(
      { route: "describe", payload: "{}" },
      {
        owner,
        // Code that blocks while it loads must not stop the others.
        isAlone: true,
        signal: timeout.signal,
        readCode: () => source,
        call: () => Promise.reject(new Error("Nothing can be called while the code loads.")),
        onConsole() {},
      },
    );
    if (!outcome.ok) throw fail("bad_request", outcome.message);
    if (outcome.status !== 200) throw fail("bad_request", explainFailure(outcome.body));
    return parseDescription(outcome.body);
  } catch (error) {
    if (error instanceof ProcessLostError)
      throw fail(
        "bad_request",
        "The code ended its process while it loaded: it did not pause, or used too much memory.",
      );
    if (error instanceof ToolError)
      throw fail(error.code === "no_sandbox" ? "unavailable" : "bad_request", error.message);
    if (error instanceof z.ZodError) throw createValidationError("agent", error);
    // It is not JSON, or nested too deeply.
    if (error instanceof SyntaxError || error instanceof RangeError)
      throw fail("bad_request", "The code does not describe its agent with valid JSON. Define it with defineAgent.");
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

/** Returns why an agent could not say what it is. */
function explainFailure(body: string): string {
  const { data } = handlerErrorSchema.safeParse(JSON.parse(body));
  if (!data) return "The code exports no agent: export default defineAgent({ … }) from @thinkery/sdk.";
  return describeHandlerError({ ...data.error, stack: data.error.stack ?? "" });
}

function hashCode({ code, sourceMap = "" }: AgentCode, manifest: AgentManifest): string {
  const hash = createHash("sha256");
  for (const part of [code, sourceMap, JSON.stringify(manifest)]) hash.update(part).update("\0");
  return hash.digest("hex").slice(0, 16);
}

function listWarnings({ manifest }: NewDeploy, { settings = {} }: CodeDescription): string[] {
  const overridden = Object.keys(manifest.settings ?? {}).filter((key) => Object.hasOwn(settings, key));
  if (overridden.length === 0) return [];
  return [`Both package.json and the code declare ${overridden.join(", ")}; the code's declaration counts.`];
}
