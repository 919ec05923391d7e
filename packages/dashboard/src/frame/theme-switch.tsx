import { Icon } from "../parts/icon.tsx";
import { setTheme, themes, useTheme } from "./theme.ts";

const icons = { system: "screen", light: "sun", dark: "moon" } as const;

export function ThemeSwitch() {
  const theme = useTheme();
  const next = themes[(themes.indexOf(theme) + 1) % themes.length] ?? "system";
  const label = `Theme: ${theme}. Switch to ${next}.`;
  return (
    <button type="button" className="icon-button" aria-label={label} title={label} onClick={() => setTheme(next)}>
      <Icon name={icons[theme]} />
    </button>
  );
}
