import type { Cli } from "../cli.ts";

/** Checks a workflow file and says what is needed to run it. Throws an error with everything that is wrong. */
export async function checkWorkflow(cli: Cli, file: string, pairs: readonly string[]): Promise<void> {
  const { parseVariables, checkVariables } = await import("../../workflow/variables.ts");
  const { readWorkflow } = await import("../../workflow/read-workflow.ts");
  const vars = parseVariables(pairs);
  const values = { env: cli.env, vars };
  const { workflow, missing } = await readWorkflow(file, { cwd: cli.cwd, values, allowsMissing: true });
  checkVariables(workflow, vars);
  const agents = Object.keys(workflow.agents);
  const steps = workflow.setup?.length ?? 0;
  cli.output.reply({ valid: true, name: workflow.name, agents, setupSteps: steps, missing }, () => {
    const count = `${agents.length} agent${agents.length === 1 ? "" : "s"} (${agents.join(", ")})`;
    const setup = steps === 0 ? "" : `, ${steps} setup step${steps === 1 ? "" : "s"}`;
    return [`${file} is valid: ${workflow.name}, ${count}${setup}.`, ...missing.map(describeMissing)].join("\n");
  });
}

function describeMissing(name: string): string {
  const [scope, key] = name.split(".");
  return scope === "env" ? `Needs the environment variable ${key}.` : `Needs --var ${key}=…`;
}
