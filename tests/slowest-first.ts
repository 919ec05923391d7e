import { readFileSync, writeFileSync } from "node:fs";
import { relative } from "node:path";
import { BaseSequencer, type Reporter, type TestModule, type TestSpecification } from "vitest/node";

const file = new URL("durations.json", import.meta.url);

/** Seconds per test file of a run of `npm test`, those above `minSeconds` only. */
const durations = JSON.parse(readFileSync(file, "utf8")) as Record<string, number>;
const minSeconds = 2;

/** Slow test files start first so that all cores stay busy until the end. */
export class SlowestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const secondsOf = ({ moduleId }: TestSpecification) => durations[relative(this.ctx.config.root, moduleId)] ?? 0;
    return (await super.sort(files)).toSorted((one, other) => secondsOf(other) - secondsOf(one));
  }
}

/** Rewrites `durations.json` after a whole run: `npm test -- --record-durations`. */
export class DurationRecorder implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const seconds = modules.map((module): [string, number] => [
      module.relativeModuleId,
      Math.round(module.diagnostic().duration / 1000),
    ]);
    const slow = seconds
      .filter(([, duration]) => duration >= minSeconds)
      .toSorted(([one, first], [other, second]) => second - first || (one < other ? -1 : 1));
    writeFileSync(file, `${JSON.stringify(Object.fromEntries(slow), null, 2)}\n`);
  }
}
