import type { Call } from "@thinkery/sdk/react";
import type { Card, CardMatch } from "./define-card.tsx";
import { matchPlain } from "./plain-card.tsx";

/** Finds the card that shows a call. */
export type CardRegistry = (call: Call) => CardMatch;

/** Throws if two cards claim the same tool. Calls without a card are shown by the plain card. */
export function createCardRegistry(cards: readonly Card[]): CardRegistry {
  const byTool = new Map<string, Card>();
  for (const card of cards) {
    for (const tool of card.tools) {
      if (byTool.has(tool)) throw new Error(`Two cards claim the tool “${tool}”.`);
      byTool.set(tool, card);
    }
  }
  return (call) => {
    try {
      const match = byTool.get(call.name)?.match(call);
      if (match) return match;
    } catch (error) {
      // A card that fails on an input must not break the page.
      console.error(`The card for ${call.name} failed.`, error);
    }
    return matchPlain(call);
  };
}
