import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { waitUntil } from "../kit/wait-until.ts";
import { createSolo, team, useWorkflowHost } from "../kit/workflow-host.ts";

// `thinkery workflow …`: runs that go on by themselves, workflows that are stored, and files that are checked.

const { host, createFolder } = useWorkflowHost();

const describeRun = (agency: string) => host().client.workflowRun(agency).describe();

test("a run that is started goes on by itself, is listed and shown, and can be stopped and resumed", async () => {
  const { run } = await createFolder({ "team.yaml": team });
  const started = await run(["workflow", "start", "team.yaml", "--tag", "bg"]);
  expect({ ...started, stderr: "" }).toEqual({
    code: 0,
    stdout:
      "Started @team:bg.\nFollow it with `thinkery workflow follow @team:bg`, stop it with `thinkery workflow stop @team:bg`.\n",
    stderr: "",
  });
  expect(await run(["workflow", "start", "team.yaml", "--tag", "bg"])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("thinkery: The run @team:bg is running. Follow it with"),
  });
  expect(await run(["workflow", "stop", "team", "--tag", "bg"])).toMatchObject({
    code: 0,
    stdout: "Stopped @team:bg. Resume it with `thinkery workflow start @team:bg`.\n",
  });
  expect((await run(["workflow", "ls", "--open"])).stdout).toMatch(/^@team:bg {2}stopped {2}2 /m);
  // With a tag, a name means the run that was stopped.
  expect(await run(["workflow", "start", "team", "--tag", "bg", "more"])).toMatchObject({ code: 2 });
  expect(await run(["workflow", "start", "team", "--tag", "bg"])).toMatchObject({
    code: 0,
    stdout: expect.stringContaining("Resumed @team:bg."),
  });
  await waitUntil("the run to end", async () => (await describeRun("team:bg")).status === "completed");
  const shown = await run(["workflow", "show", "@team:bg"]);
  expect(shown.stdout).toMatch(/^status +completed$/m);
  expect(shown.stdout).toMatch(/^lead +idle .* Leads\.$/m);
  expect(shown.stdout).toContain("Result:\n  It is done.\n");
  expect(JSON.parse((await run(["workflow", "ls", "--json"])).stdout)).toMatchObject({
    runs: expect.arrayContaining([expect.objectContaining({ agency: "team:bg", status: "completed", turns: 3 })]),
  });
  expect((await run(["workflow", "ls", "--open"])).stdout).toBe(
    "No open runs. Start one with `thinkery run <workflow.yaml>`.\n",
  );
});

test("stop and start of an agency are those of its run, and a misspelled run is suggested", async () => {
  const { run } = await createFolder({ "team.yaml": team });
  await run(["workflow", "start", "team.yaml", "--tag", "short"]);
  expect(await run(["stop", "@team:short"])).toMatchObject({
    code: 0,
    stdout: expect.stringContaining("Stopped @team:short."),
  });
  expect(await run(["start", "@team:short"])).toMatchObject({
    code: 0,
    stdout: expect.stringContaining("Resumed @team:short."),
  });
  expect(await run(["workflow", "stop", "@team:shrot"])).toEqual({
    code: 1,
    stdout: "",
    stderr: "thinkery: No run “team:shrot” found. Did you mean @team:short?\n",
  });
  // A workflow with one open run needs no tag.
  expect(await run(["workflow", "stop", "team"])).toMatchObject({ code: 0 });
  expect(await run(["workflow", "stop", "@team:short", "--tag", "x"])).toMatchObject({ code: 2 });
});

test("a workflow is stored with its prompts and run by its name, from any folder", async () => {
  const stored = `${team.replace("name: team", "name: stored").replace("role: Leads.", "system_prompt_file: lead.md")}setup: [{ shell: pwd, as: here }]\n`;
  const { run } = await createFolder({ "wf.yaml": stored, "lead.md": "You lead ${{ workflow.tag }}." });
  expect(await run(["workflow", "add", "wf.yaml"])).toMatchObject({
    code: 0,
    stdout: "Stored stored. Run it with `thinkery workflow run stored`.\n",
  });
  expect((await run(["workflow", "ls", "--stored"])).stdout).toMatch(/^stored {2}lead, worker /m);
  expect((await run(["workflow", "show", "stored"])).stdout).toContain("system_prompt: You lead ${{ workflow.tag }}.");

  const other = await createFolder();
  const byName = await other.run(["run", "stored", "--tag", "one", "--var", "what=this"]);
  expect(byName).toMatchObject({
    code: 0,
    stderr: expect.stringContaining("Running the stored workflow stored as @stored:one."),
  });
  const { system } = await host().client.call("getAgent", { params: { agency: "stored:one", agent: "lead" } });
  expect(system).toBe("You lead one.");
  expect((await describeRun("stored:one")).kickoff).toBe("@lead Do this");

  expect(await other.run(["workflow", "run", "stored", "--var", "waht=1"])).toMatchObject({
    code: 2,
    stderr: "thinkery: The workflow stored has no variable “waht”. Did you mean --var what=…?\n",
  });
  expect(await other.run(["workflow", "run", "stroed"])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("Did you mean “stored”?"),
  });
  expect(await other.run(["workflow", "rm", "stored", "-y"])).toMatchObject({ code: 0, stdout: "Deleted stored.\n" });
  expect(await other.run(["workflow", "show", "stored"])).toMatchObject({ code: 1 });
});

test("run takes an agent where there is one, or else the stored workflow of that name", async () => {
  const { run } = await createFolder({ "both.yaml": createSolo("alone").replace("solo", "both") });
  await run(["workflow", "add", "both.yaml"]);
  expect(await run(["run", "both"])).toMatchObject({
    code: 0,
    stderr: expect.stringMatching(/^Running the stored workflow both as @both:/),
  });
  expect(await run(["run", "bohh", "hi"])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("Did you mean “both”?"),
  });
  await run(["new", "both"]);
  const ran = await run(["run", "both", "work alone"]);
  expect(ran).toMatchObject({ code: 0, stdout: expect.stringContaining("Done") });
  expect(ran.stderr).not.toContain("workflow");
  expect(await run(["workflow", "run", "both"])).toMatchObject({ code: 0, stderr: expect.stringContaining("@both:") });
  expect(await run(["run", "--new", "hi", "--tag", "x"])).toMatchObject({
    code: 2,
    stderr: "thinkery: --tag and --var are for workflows.\n",
  });
});

test("the setup of a workflow that a host elsewhere has stored runs only if somebody agrees", async () => {
  const { run, cwd } = await createFolder({
    "remote.yaml": createSolo("alone", "setup: [{ shell: touch ran }]\n").replace("solo", "remote"),
  });
  await run(["workflow", "add", "remote.yaml"]);
  const env = { THINKERY_URL: host().url, THINKERY_TOKEN: host().token };
  const refused = await run(["workflow", "run", "remote"], { env });
  expect(refused).toMatchObject({ code: 2, stdout: "" });
  expect(refused.stderr).toContain(
    `The workflow remote of ${host().url} runs commands on this machine:\n  $ touch ran\n`,
  );
  expect(refused.stderr).toContain("--yes");
  await expect(readFile(join(cwd, "ran"))).rejects.toThrow("ENOENT");
  expect(await run(["workflow", "run", "remote", "--yes"], { env })).toMatchObject({ code: 0 });
  expect(await readFile(join(cwd, "ran"), "utf8")).toBe("");
});

test("check reports all problems with their places, needs no host and runs nothing", async () => {
  const { run, cwd } = await createFolder({
    "good.yaml": createSolo(
      "Review ${{ vars.pr }} for ${{ env.WHO }} ${{ it }}",
      "setup: [{ shell: touch ran, as: it }]\n",
    ),
    "bad.yaml": "name: bad\nagents:\n  lead: { modle: x }\n  Lead: {}\nkickoff: '@laed go'\n",
  });
  const env = { THINKERY_URL: "http://127.0.0.1:9", THINKERY_TOKEN: "x" };
  expect(await run(["workflow", "check", "good.yaml"], { env })).toEqual({
    code: 0,
    stdout:
      "good.yaml is valid: solo, 1 agent (lead), 1 setup step.\nNeeds --var pr=…\nNeeds the environment variable WHO.\n",
    stderr: "",
  });
  expect(
    JSON.parse((await run(["workflow", "check", "good.yaml", "--var", "pr=1", "--json"], { env })).stdout),
  ).toEqual({
    valid: true,
    name: "solo",
    agents: ["lead"],
    setupSteps: 1,
    missing: ["env.WHO"],
  });
  await expect(readFile(join(cwd, "ran"))).rejects.toThrow("ENOENT");
  expect(await run(["workflow", "check", "bad.yaml"], { env })).toEqual({
    code: 2,
    stdout: "",
    stderr: [
      "thinkery: bad.yaml, line 3, column 11: agents.lead.modle: unknown key. Did you mean “model”?",
      "  agents.Lead: differs from the agent “lead” only in case (line 4, column 3)",
      "  kickoff: no agent is named “laed”. Did you mean “@lead”? (line 5, column 11)\n",
    ].join("\n"),
  });
});

test("a workflow in a cloned repository cannot read files outside of it", async () => {
  const { run, cwd } = await createFolder({ secret: "s3cret" });
  await mkdir(join(cwd, "clone"));
  const text = `name: evil\nagents: { a: { system_prompt_file: ../secret } }\nkickoff: go\n`;
  await writeFile(join(cwd, "clone/wf.yaml"), text);
  const refused = await run(["run", "wf.yaml"], { cwd: join(cwd, "clone") });
  expect(refused).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("“../secret” is outside of the workflow's folder, so it is not read"),
  });
});
