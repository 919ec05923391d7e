/** Maximum delay. Hidden pages are never painted, so they get no animation frames. */
const maxWaitMs = 200;
/** Delay where there are no animation frames, as in Node. */
const defaultWaitMs = 16;

const canPaint = typeof requestAnimationFrame === "function";

/** Collects items until the next paint and passes them on together. */
export function createBatcher<T>(onBatch: (items: T[]) => void): { add(item: T): void; flush(): void } {
  let items: T[] = [];
  let frame = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;

  const flush = () => {
    if (canPaint) cancelAnimationFrame(frame);
    clearTimeout(timer);
    timer = undefined;
    if (items.length === 0) return;
    const batch = items;
    items = [];
    onBatch(batch);
  };

  return {
    add(item) {
      items.push(item);
      if (timer !== undefined) return;
      if (canPaint) frame = requestAnimationFrame(flush);
      timer = setTimeout(flush, canPaint ? maxWaitMs : defaultWaitMs);
    },
    flush,
  };
}
