import type { KeyboardEvent } from "react";

const actions = { y: "approve", n: "deny", e: "edit" } as const;

export type PanelAction = (typeof actions)[keyof typeof actions];

/** Returns what a key means for the approval that has the focus. Keys that are held down or typed mean nothing. */
export function getPanelAction(event: KeyboardEvent): PanelAction | undefined {
  if (event.repeat || event.ctrlKey || event.metaKey || event.altKey || event.nativeEvent.isComposing) return undefined;
  const target = event.target as HTMLElement;
  if (target.closest("input, textarea, select, [contenteditable]")) return undefined;
  const key = event.key.toLowerCase();
  return Object.hasOwn(actions, key) ? actions[key as keyof typeof actions] : undefined;
}
