import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

export default defineConfig({
  base: "/",
  plugins: [react()],
  build: {
    outDir: "../daemon/dist/page",
    emptyOutDir: true,
    // The CSP allows only files from the page's own origin, so nothing may be inlined.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: ["chrome123", "firefox121", "safari17.5"],
  },
});
