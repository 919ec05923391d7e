import type { Agent, Blueprint } from "@thinkery/sdk";
import type { AgentRegistry } from "../agency/agents.ts";
import type { Blueprints } from "../agency/blueprints.ts";
import { Packages } from "../agency/packages.ts";
import type { AgentSandbox } from "../sandbox/agent-sandbox.ts";
import type { ToolProvider } from "../tools/provided-tools.ts";
import { PackagesApi } from "./packages-api.ts";

interface AgencyPackagesOptions {
  sql: SqlStorage;
  blueprints: Blueprints;
  agents: AgentRegistry;
  /** Throws if the agency does not exist. */
  open(): Promise<unknown>;
  openSandbox(): AgentSandbox;
  getOwner(): string;
  createAgent(agent: Pick<Agent, "name" | "blueprint">): Promise<unknown>;
  /** Tells an agent that its package has another version. */
  updateAgent(name: string): Promise<void>;
  /** Called when agents have to read again what the agency says. */
  onChange(): void;
  waitUntil(work: Promise<unknown>): void;
}

const maxListedAgents = 100;
const maxConcurrentUpdates = 4;

/** The packages of an agency, and the agents that run them. */
export class AgencyPackages {
  readonly api: PackagesApi;
  readonly #options: AgencyPackagesOptions;
  readonly #packages: Packages;

  constructor(options: AgencyPackagesOptions) {
    const { sql, blueprints, agents } = options;
    this.#options = options;
    this.#packages = new Packages(sql, (name) => this.#listAgents(name));
    this.api = new PackagesApi(async () => {
      await options.open();
      return {
        packages: this.#packages,
        owner: options.getOwner(),
        sandbox: options.openSandbox(),
        findBlueprint: (name) => blueprints.find(name),
        putBlueprint: (blueprint: Blueprint) => void blueprints.put(blueprint),
        deleteBlueprint: (name) => blueprints.delete(name),
        findAgent: (name) => agents.find(name),
        createAgent: async (name, blueprint) => void (await options.createAgent({ name, blueprint })),
        onChange: (name) => this.#onChange(name),
      };
    });
  }

  /** Returns the tools that agents of the agency provide to the others. */
  listProviders(): ToolProvider[] {
    return this.#packages
      .listProvided()
      .flatMap(({ name, tools }) => this.#listAgents(name).map((agent) => ({ agent, tools })));
  }

  /** Returns the agents with the code of a package, at most as many as are shown. */
  #listAgents(packageName: string): string[] {
    const { blueprints, agents } = this.#options;
    return blueprints
      .list()
      .filter(({ config }) => config?.isolate?.package === packageName)
      .flatMap(({ name }) => agents.listByBlueprint(name, maxListedAgents));
  }

  #onChange(packageName: string): void {
    this.#options.onChange();
    this.#options.waitUntil(this.#updateAgents(packageName));
  }

  async #updateAgents(packageName: string): Promise<void> {
    const waiting = this.#listAgents(packageName);
    const updateNext = async () => {
      for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
        await this.#options
          .updateAgent(name)
          .catch((error: unknown) => console.error("an agent was not told of a new version", error));
      }
    };
    await Promise.all(Array.from({ length: maxConcurrentUpdates }, updateNext));
  }
}
