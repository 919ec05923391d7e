/** How long a hook may take is limited, and so is what it can break: whatever it throws is an answer, not an accident. */

export class HookTimeout extends Error {}

/** Runs one hook. Answers at once where the hook does; a promise is awaited for so long, and then left alone. */
export function bounded(run: () => void | Promise<void>, seconds: number): void | Promise<void> {
  const result = run();
  return result instanceof Promise ? settled(result, seconds) : undefined;
}

async function settled(result: Promise<void>, seconds: number): Promise<void> {
  let done = false;
  const watched = result.finally(() => {
    done = true;
  });
  // Most are over within a few microtasks, and a timer costs more than such a hook.
  watched.catch(() => {});
  for (let turn = 0; turn < 4; turn++) {
    await undefined;
    if (done) return watched;
  }
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new HookTimeout(`It did not come back within ${seconds} s.`)), seconds * 1000);
  });
  try {
    await Promise.race([watched, late]);
  } finally {
    clearTimeout(timer);
  }
}
