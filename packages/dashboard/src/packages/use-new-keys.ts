import { useEffect, useRef, useState } from "react";

const highlightMs = 3000;

/** Returns the keys that were added since the list was first there, each for a moment. */
export function useNewKeys(keys: readonly string[] | undefined): ReadonlySet<string> {
  const known = useRef<ReadonlySet<string>>(undefined);
  const timers = useRef(new Set<ReturnType<typeof setTimeout>>());
  const [highlighted, setHighlighted] = useState<ReadonlySet<string>>(new Set());

  useEffect(() => {
    if (!keys) return;
    const before = known.current;
    known.current = new Set(keys);
    const added = before ? keys.filter((key) => !before.has(key)) : [];
    if (added.length === 0) return;
    setHighlighted((current) => new Set([...current, ...added]));
    const timer = setTimeout(() => {
      timers.current.delete(timer);
      setHighlighted((current) => new Set([...current].filter((key) => !added.includes(key))));
    }, highlightMs);
    timers.current.add(timer);
  }, [keys]);

  useEffect(() => {
    const { current } = timers;
    return () => {
      for (const timer of current) clearTimeout(timer);
    };
  }, []);

  return highlighted;
}
