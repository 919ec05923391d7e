import { mkdirSync, writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { type Bench, type Finding, isMet, getMedian } from "./bench.ts";

/**
 * Runs benchmarks one after another, prints their findings and writes them as JSON. Returns whether all goals were met.
 */
export async function report(benches: Bench[], folder: string): Promise<boolean> {
  mkdirSync(folder, { recursive: true });
  let areGoalsMet = true;
  for (const bench of benches) {
    console.log(`\n${bench.name}: ${bench.about}`);
    const findings = await bench.run();
    for (const finding of findings) {
      areGoalsMet &&= isMet(finding);
      printFinding(finding);
    }
    const machine = {
      cores: cpus().length,
      model: cpus()[0]?.model,
      node: process.version,
      platform: process.platform,
    };
    writeFileSync(
      `${folder}/${bench.name}.json`,
      JSON.stringify({ ...bench, at: new Date().toISOString(), machine, findings }, null, 2),
    );
  }
  return areGoalsMet;
}

function printFinding(finding: Finding): void {
  const { what, samples, unit, figure, goal, atLeast } = finding;
  for (const [name, values] of Object.entries(samples)) {
    const spread = `${Math.min(...values).toFixed(2)}–${Math.max(...values).toFixed(2)}`;
    console.log(
      `  ${name.padEnd(34)} median ${getMedian(values).toFixed(2)} ${unit}  (${spread}, n = ${values.length})`,
    );
  }
  const verdict = isMet(finding) ? "met" : "MISSED";
  console.log(`  ${what.padEnd(34)} ${figure.toFixed(2)}  goal ${atLeast ? "≥" : "≤"} ${goal}  ${verdict}`);
}
