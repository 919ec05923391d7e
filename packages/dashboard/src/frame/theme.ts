import { createStore, useStore } from "../api/store.ts";
import { recall, remember } from "./storage.ts";

export const themes = ["system", "light", "dark"] as const;
export type Theme = (typeof themes)[number];

const key = "theme";
const theme = createStore<Theme>(themes.find((name) => name === recall(key)) ?? "system");

export const useTheme = () => useStore(theme);

export function setTheme(next: Theme): void {
  theme.set(next);
  remember(key, next === "system" ? undefined : next);
  applyTheme();
}

export function applyTheme(): void {
  const current = theme.get();
  if (current === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = current;
}
