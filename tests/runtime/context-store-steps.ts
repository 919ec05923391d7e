import type { ContextStore } from "../../packages/runtime/src/agency/team/context-store.ts";
import { MemoryContextStore } from "../../packages/runtime/src/agency/team/memory-context-store.ts";

type Method = Exclude<keyof ContextStore, "transaction">;

/** A call of a store's method, or several steps in one transaction. */
export type Step =
  | { call: Method; input: unknown[] }
  /** `throws`: after its steps, the work fails. */
  | { transaction: Step[]; throws?: boolean };

export type Outcome = { value?: unknown } | { errorCode: string };

/** Runs steps on a store. What a step throws is its outcome, and the next step runs. */
export function runSteps(store: ContextStore, steps: readonly Step[]): Outcome[] {
  return steps.map((step) => {
    try {
      return { value: runStep(store, step) };
    } catch (error) {
      return { errorCode: (error as { code?: string }).code ?? (error as Error).message };
    }
  });
}

function runStep(store: ContextStore, step: Step): unknown {
  if ("call" in step) return (store[step.call] as (...input: unknown[]) => unknown).apply(store, step.input);
  return store.transaction(() => {
    const outcomes = runSteps(store, step.transaction);
    if (step.throws) throw new Error("thrown by the work");
    return outcomes;
  });
}

export const createStep = <Name extends Method>(call: Name, ...input: Parameters<ContextStore[Name]>): Step => ({
  call,
  input,
});

export type RunSteps = (steps: readonly Step[]) => Promise<Outcome[]>;

/** The methods of a store that may be in another process. */
export type StoreClient = {
  [Name in Method]: (...input: Parameters<ContextStore[Name]>) => Promise<ReturnType<ContextStore[Name]>>;
};

export function createStoreClient(run: RunSteps): StoreClient {
  const createMethod = (call: Method) => {
    return async (...input: unknown[]) => {
      const [outcome = {}] = await run([{ call, input }]);
      if ("errorCode" in outcome) throw Object.assign(new Error(outcome.errorCode), { code: outcome.errorCode });
      return outcome.value;
    };
  };
  return new Proxy({} as StoreClient, { get: (_, name) => createMethod(name as Method) });
}

/** Opens a store in memory. What goes in and out is copied, as it is on the way to one in SQLite. */
export function openMemory(): RunSteps {
  const store = new MemoryContextStore();
  return async (steps) => JSON.parse(JSON.stringify(runSteps(store, JSON.parse(JSON.stringify(steps)))));
}
