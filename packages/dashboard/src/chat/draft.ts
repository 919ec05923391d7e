import { useCallback, useState } from "react";
import { recall, remember } from "../frame/remembered.ts";
import { type Pair, pairKey } from "./outbox.ts";

/** What is being written, kept over reloads and other views. */
export function useDraft(pair: Pair): [string, (text: string) => void] {
  const key = pairKey("draft", pair);
  const [text, setText] = useState(() => recall(key) ?? "");
  const write = useCallback(
    (next: string) => {
      setText(next);
      remember(key, next || undefined);
    },
    [key],
  );
  return [text, write];
}
