import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["packages/*/src/**/*.test.ts", "tests/**/*.test.ts", "examples/*/src/**/*.test.ts"],
    // Two cores, but much of a test is waiting for a process to start or to die. Each file has real hosts of its own.
    maxWorkers: 3,
    // No file changes what others import, and reading all of it again for each took a minute.
    isolate: false,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    reporters: ["default"],
  },
});
