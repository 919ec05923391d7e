import { fail, isThinkeryError } from "@thinkery/sdk";
import type { UsageReport } from "../../store/usage-totals.ts";
import type { SpendingStatement } from "../../turn/budget/child-leases.ts";
import type { FeatureCall } from "../feature-call.ts";
import type { AssignmentRequest, AssignmentStatus } from "./assignment.ts";

/** What a parent calls on its sub-agents. */
export interface ChildStub {
  startAssignment(request: AssignmentRequest): Promise<AssignmentStatus>;
  cancelAssignment(token: string): Promise<SpendingStatement | undefined>;
  describeAssignment(): Promise<AssignmentStatus>;
  retire(): Promise<UsageReport[]>;
  callChild(path: string[], call: FeatureCall): Promise<unknown>;
}

export interface Facets {
  has(name: string): boolean;
  list(): string[];
  /** Creates the facet if it does not exist. */
  open(name: string): Promise<ChildStub>;
  /** Deletes the facet with everything below it. */
  delete(name: string): Promise<void>;
}

/** Calls sub-agents. Only `start` creates one. */
export class ChildClient {
  readonly #facets: Facets;
  /** Opening a facet writes to its storage. */
  readonly #stubs = new Map<string, ChildStub>();

  constructor(facets: Facets) {
    this.#facets = facets;
  }

  start(name: string, request: AssignmentRequest): Promise<AssignmentStatus> {
    return this.#call(name, (child) => child.startAssignment(request));
  }

  /** Returns what it has spent; undefined if it never began. */
  async cancel(name: string, token: string): Promise<SpendingStatement | undefined> {
    if (!this.#facets.has(name)) return undefined;
    return this.#call(name, (child) => child.cancelAssignment(token)).catch((error: unknown) => {
      if (isThinkeryError(error) && error.code === "not_found") return undefined;
      throw error;
    });
  }

  async describe(name: string): Promise<AssignmentStatus | undefined> {
    return this.#facets.has(name) ? this.#call(name, (child) => child.describeAssignment()) : undefined;
  }

  /** Stops a sub-agent and everyone below it for good. Returns what each has spent. */
  async retire(name: string): Promise<UsageReport[]> {
    return this.#facets.has(name) ? this.#call(name, (child) => child.retire()) : [];
  }

  /** Passes on a call to a sub-agent, or to one below it. */
  forward(name: string, path: string[], call: FeatureCall): Promise<unknown> {
    if (!this.#facets.has(name)) throw fail("not_found", `Sub-agent “${name}” not found.`);
    return this.#call(name, (child) => child.callChild(path, call));
  }

  list(): string[] {
    return this.#facets.list();
  }

  async delete(name: string): Promise<void> {
    this.#stubs.delete(name);
    if (this.#facets.has(name)) await this.#facets.delete(name);
  }

  async #call<T>(name: string, call: (child: ChildStub) => Promise<T>): Promise<T> {
    const child = this.#stubs.get(name) ?? (await this.#facets.open(name));
    this.#stubs.set(name, child);
    try {
      return await call(child);
    } catch (error) {
      // A broken stub never recovers.
      if (!isThinkeryError(error)) this.#stubs.delete(name);
      throw error;
    }
  }
}
