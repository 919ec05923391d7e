import type { Environment } from "../config/environment.ts";
import { locateHome } from "../home/home.ts";
import { checkBrowser } from "./browser.ts";
import { checkConfig } from "./config.ts";
import { checkDisk } from "./disk.ts";
import type { Check, Finding, CheckContext } from "./finding.ts";
import { checkFolder } from "./folder.ts";
import { checkHost } from "./host.ts";
import { checkModels } from "./models.ts";
import { checkNode } from "./node.ts";
import { checkPort } from "./port.ts";
import { checkBubblewrap, checkCommandLimits, checkPrlimit } from "./sandbox.ts";
import { checkWorker } from "./worker.ts";
import { checkWorkerd } from "./workerd.ts";

const checks: Record<string, Check> = {
  Node: checkNode,
  workerd: checkWorkerd,
  "data folder": checkFolder,
  disk: checkDisk,
  configuration: checkConfig,
  port: checkPort,
  host: checkHost,
  Worker: checkWorker,
  browser: checkBrowser,
  prlimit: checkPrlimit,
  bubblewrap: checkBubblewrap,
  "command limits": () => checkCommandLimits(),
  models: checkModels,
};

/** Runs all checks of `thinkery doctor`. */
export async function runChecks(options: {
  env: Environment;
  cwd: string;
  version: string | undefined;
}): Promise<Finding[]> {
  const context: CheckContext = { ...options, home: locateHome(options.env) };
  const findings: Finding[] = [];
  // Sequentially, so that they do not interfere with each other.
  for (const [name, check] of Object.entries(checks)) findings.push(await runCheck(name, check, context));
  return findings;
}

// A check that throws is reported as a failure; the others still run.
async function runCheck(name: string, check: Check, context: CheckContext): Promise<Finding> {
  try {
    return await check(context);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { name, state: "fail", message: `check failed: ${reason}` };
  }
}
