import type { AgentAddress, Blueprint } from "@thinkery/sdk";
import { getRevision } from "../agency/revision.ts";
import type { Env } from "./env.ts";
import type { ResolvedByAgency } from "./resolve-rules.ts";

/** Bounds the age of what was changed in another isolate (Cloudflare), of which we are not notified. */
const ttlMs = 30_000;

type AgencyRules = Omit<ResolvedByAgency, "metered">;

const noRules: Omit<AgencyRules, "types"> = { rules: [], grants: [], provided: [], tools: [], watched: false };

/** A value from the agency, and when it was read. */
interface Cached<T> {
  value: T;
  revision: number;
  at: number;
}

/** Reads what an agent's turns need from its agency, and caches it until it changes. */
export class AgencyReader {
  readonly #env: Env;
  readonly #agency: string;
  readonly #agent: string;
  #blueprint: Cached<Blueprint> | undefined;
  #metered: Cached<boolean> | undefined;
  #rules: Cached<AgencyRules> | undefined;

  constructor(env: Env, { agency, path }: AgentAddress) {
    this.#env = env;
    this.#agency = agency;
    this.#agent = path[0];
  }

  /** The rules and grants of the agency as last read, with the blueprint. */
  get lastRules(): Omit<AgencyRules, "types"> {
    return this.#rules?.value ?? noRules;
  }

  async readRules(): Promise<AgencyRules> {
    if (this.#rules && this.#isFresh(this.#rules)) return this.#rules.value;
    const revision = getRevision(this.#agency);
    const { metered: _, ...value } = await this.#open().resolveRules(this.#agent);
    this.#rules = { value, revision, at: Date.now() };
    return value;
  }

  /** Returns a blueprint. One that is unchanged is the same object as before, so that middleware need not start again. */
  async readBlueprint(name: string): Promise<Blueprint> {
    const cached = this.#blueprint;
    if (cached && this.#isFresh(cached)) return cached.value;
    const revision = getRevision(this.#agency);
    const { blueprint, metered, ...rules } = await this.#open().resolveBlueprint(name, this.#agent);
    const isUnchanged = cached && JSON.stringify(cached.value) === JSON.stringify(blueprint);
    const value = isUnchanged ? cached.value : blueprint;
    const at = Date.now();
    this.#blueprint = { value, revision, at };
    this.#metered = { value: metered, revision, at };
    this.#rules = { value: rules, revision, at };
    return value;
  }

  /** Uses a blueprint that the agency passed, until the next read. */
  presetBlueprint(value: Blueprint): void {
    this.#blueprint ??= { value, revision: -1, at: 0 };
  }

  /**
   * Whether the agent must reserve budget before it spends. Synchronous while the cached value is fresh. Read separately:
   * a turn keeps the blueprint it started with, but must respect a budget set in the meantime.
   */
  isMetered(): boolean | Promise<boolean> {
    return this.#metered && this.#isFresh(this.#metered) ? this.#metered.value : this.#fetchMetered();
  }

  async #fetchMetered(): Promise<boolean> {
    const revision = getRevision(this.#agency);
    const value = await this.#open().isMetered();
    this.#metered = { value, revision, at: Date.now() };
    return value;
  }

  #open() {
    return this.#env.Agency.getByName(this.#agency);
  }

  #isFresh({ revision, at }: Cached<unknown>): boolean {
    return revision === getRevision(this.#agency) && Date.now() - at < ttlMs;
  }
}
