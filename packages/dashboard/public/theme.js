// Runs before the first paint so that the page does not flash in the wrong theme. See src/frame/theme.ts.
try {
  const theme = localStorage.getItem("thinkery.theme");
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
} catch {
  // Storage may be blocked; the system theme is used then.
}
