import { type KeyboardEvent, type RefObject, useLayoutEffect, useRef, useState } from "react";
import { completeMention, findCandidates, findMentionStart, type MentionStart } from "../team/mentions.ts";

interface MentionMenuOptions {
  field: RefObject<HTMLTextAreaElement | null>;
  text: string;
  /** Who can be mentioned. */
  names: readonly string[];
  onText(text: string): void;
}

export interface MentionMenuState {
  isOpen: boolean;
  candidates: readonly string[];
  /** Index of the candidate that Enter chooses. */
  active: number;
  choose(name: string): void;
  /** Call it when the text or the caret has changed. */
  update(): void;
  close(): void;
  /** Returns whether it handled the key. */
  onKeyDown(event: KeyboardEvent): boolean;
}

/** Completes mentions while they are typed. */
export function useMentionMenu({ field, text, names, onText }: MentionMenuOptions): MentionMenuState {
  const [start, setStart] = useState<MentionStart>();
  const [active, setActive] = useState(0);
  const caret = useRef<number>(undefined);
  const candidates = start ? findCandidates(names, start.query) : [];
  const isOpen = candidates.length > 0;

  // Set with the text, because the browser moves the caret to the end of a new value.
  useLayoutEffect(() => {
    if (caret.current === undefined) return;
    field.current?.setSelectionRange(caret.current, caret.current);
    caret.current = undefined;
  }, [field, text]);

  const close = () => setStart(undefined);
  const choose = (name: string) => {
    const element = field.current;
    if (!element || !start) return;
    const completed = completeMention(text, element.selectionStart, start, name);
    caret.current = completed.caret;
    onText(completed.text);
    close();
    element.focus();
  };
  const moves: Record<string, () => void> = {
    ArrowDown: () => setActive((active + 1) % candidates.length),
    ArrowUp: () => setActive((active + candidates.length - 1) % candidates.length),
    Enter: () => choose(candidates[active] ?? ""),
    Tab: () => choose(candidates[active] ?? ""),
    Escape: close,
  };

  return {
    isOpen,
    candidates,
    active: Math.min(active, Math.max(0, candidates.length - 1)),
    choose,
    update() {
      const element = field.current;
      if (!element || element.selectionStart !== element.selectionEnd) return close();
      const next = findMentionStart(element.value, element.selectionStart);
      if (next?.from !== start?.from || next?.query !== start?.query) setActive(0);
      setStart(next);
    },
    close,
    onKeyDown(event) {
      const move = moves[event.key];
      if (!isOpen || !move || event.shiftKey || event.nativeEvent.isComposing) return false;
      event.preventDefault();
      event.stopPropagation();
      move();
      return true;
    },
  };
}
