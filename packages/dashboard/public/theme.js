// Runs before the first paint, so that a chosen theme does not flash in the other one. See src/frame/theme.ts.
try {
  const theme = localStorage.getItem("thinkery.theme");
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
} catch {
  // Storage may be forbidden; the system's theme is used then.
}
