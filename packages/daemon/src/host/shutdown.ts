export interface StopOutcome {
  reason: "asked" | "failed";
  message?: string;
}

/** How a host ends, in whatever order its end is asked for. */
interface Shutdown {
  /** Adds a step; the steps are taken in reverse, whether the start fails or the host stops. */
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
      // One thing that cannot be undone, such as a file on a full disk, must not keep the rest.
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
