export interface StopOutcome {
  reason: "requested" | "failed";
  message?: string;
}

/** Runs the shutdown steps once, however often and whenever a stop is requested. */
interface Shutdown {
  /** Adds a step. Steps run in reverse order, both if the start fails and when the host stops. */
  addStep(step: () => Promise<void> | void): void;
  run(outcome: StopOutcome): Promise<void>;
  hasBegun(): boolean;
  done: Promise<StopOutcome>;
}

export function createShutdown(): Shutdown {
  const steps: Array<() => Promise<void> | void> = [];
  let first: StopOutcome | undefined;
  let running = Promise.resolve();
  let resolveOutcome!: (outcome: StopOutcome) => void;
  const outcomePromise = new Promise<StopOutcome>((resolve) => {
    resolveOutcome = resolve;
  });

  async function unwind(): Promise<void> {
    for (let step = steps.pop(); step; step = steps.pop()) {
      // A step that fails, such as a write on a full disk, must not prevent the others.
      try {
        await step();
      } catch {}
    }
  }

  return {
    addStep: (step) => void steps.push(step),
    async run(outcome) {
      first ??= outcome;
      running = running.then(unwind);
      await running;
      resolveOutcome(first);
    },
    hasBegun: () => first !== undefined,
    done: outcomePromise,
  };
}
