import { randomInt } from "node:crypto";
import { defineConfig } from "vitest/config";
import { DurationRecorder, SlowestFirst } from "./tests/slowest-first.ts";

// One seed for the whole run, printed by every test that draws from it: `SEED=123 npm test` repeats the run.
process.env.SEED ??= String(randomInt(2 ** 31));

// What is shown of a promise depends on whether anything in its process has ever followed one.
const alone = "packages/runtime/src/sandbox/process/harness/*.test.ts";

export default defineConfig({
  test: {
    // Two cores, but much of a test is waiting for a process to start or to die. Each file has real hosts of its own.
    maxWorkers: 4,
    // A whole corpus takes longer than a sample of it.
    testTimeout: process.env.LONG === "1" ? 300_000 : 60_000,
    hookTimeout: 60_000,
    globalSetup: "tests/global-setup.ts",
    reporters: ["default", ...(process.env.RECORD_DURATIONS === "1" ? [new DurationRecorder()] : [])],
    sequence: { sequencer: SlowestFirst },
    projects: [
      {
        extends: true,
        test: {
          name: "together",
          include: ["packages/*/src/**/*.test.ts", "tests/**/*.test.ts", "examples/**/src/**/*.test.ts"],
          exclude: [alone, "**/node_modules/**"],
          // No file changes what others import, and reading all of it again for each took a minute.
          isolate: false,
        },
      },
      { extends: true, test: { name: "alone", include: [alone] } },
    ],
  },
});
