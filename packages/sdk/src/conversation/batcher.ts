/** Longest wait, for a page that is not looked at and therefore never painted. */
const maxWaitMs = 200;
/** Where nothing is ever painted, as in Node. */
const defaultWaitMs = 16;

const canPaint = typeof requestAnimationFrame === "function";

/** Gathers what comes until the next paint, and hands it on in one go. */
export function createBatcher<T>(handOn: (items: T[]) => void): { add(item: T): void; flush(): void } {
  let items: T[] = [];
  let frame = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;

  const flush = () => {
    if (canPaint) cancelAnimationFrame(frame);
    clearTimeout(timer);
    timer = undefined;
    if (items.length === 0) return;
    const gathered = items;
    items = [];
    handOn(gathered);
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
