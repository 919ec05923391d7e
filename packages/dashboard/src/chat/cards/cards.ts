/// <reference types="vite/client" />
import { createCardRegistry } from "./card-registry.ts";
import type { Card } from "./define-card.tsx";

/** Every tool card of the page. To add one, add a file to this folder. */
export const allCards = Object.values(import.meta.glob<Card>("./*.card.tsx", { eager: true, import: "card" }));

export const findCard = createCardRegistry(allCards);
