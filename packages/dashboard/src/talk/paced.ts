/** Longest wait, for a page that is not looked at and therefore never painted. */
const longestWait = 200;

/** Gathers what comes until the next paint, and hands it on in one go. */
export function paced<T>(handOn: (items: T[]) => void): { add(item: T): void; flush(): void; stop(): void } {
  let items: T[] = [];
  let frame = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;

  const rest = () => {
    cancelAnimationFrame(frame);
    clearTimeout(timer);
    timer = undefined;
  };
  const flush = () => {
    rest();
    if (items.length === 0) return;
    const gathered = items;
    items = [];
    handOn(gathered);
  };

  return {
    add(item) {
      items.push(item);
      if (timer !== undefined) return;
      frame = requestAnimationFrame(flush);
      timer = setTimeout(flush, longestWait);
    },
    flush,
    stop() {
      rest();
      items = [];
    },
  };
}
