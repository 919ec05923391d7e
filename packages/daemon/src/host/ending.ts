export interface Outcome {
  reason: "asked" | "failed";
  message?: string;
}

/** How a host ends, in whatever order its end is asked for. */
interface Ending {
  /** Adds a step; the steps are taken in reverse, whether the start fails or the host stops. */
  undo(step: () => Promise<void> | void): void;
  end(outcome: Outcome): Promise<void>;
  begun(): boolean;
  ended: Promise<Outcome>;
}

export function ending(): Ending {
  const steps: Array<() => Promise<void> | void> = [];
  let first: Outcome | undefined;
  let running = Promise.resolve();
  let tell!: (outcome: Outcome) => void;
  const told = new Promise<Outcome>((resolve) => {
    tell = resolve;
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
    undo: (step) => void steps.push(step),
    async end(outcome) {
      first ??= outcome;
      running = running.then(unwind);
      await running;
      tell(first);
    },
    begun: () => first !== undefined,
    ended: told,
  };
}
