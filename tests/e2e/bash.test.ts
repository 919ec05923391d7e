import http from "node:http";
import type { AddressInfo } from "node:net";
import type { AgentEvent } from "@thinkery/sdk";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openTestbed, type Testbed, type TestAgent } from "../kit/worker/testbed.ts";

// The shell on an agent's workspace: through the tool, from code, and under its policy.
// There is only one sandbox slot, so anything that waits for a second one never ends.

let testbed: Testbed;
let site: http.Server;
let origin: string;

const call = (tool: string, input: object) => ({ call: { tool, input } });

/** The message is the command or the code to run. */
const script = [
  {
    when: "/^in two$/",
    steps: [
      call("bash", { command: "mkdir -p deep/er; cd deep; export WHO=me; here=1; echo kept > /tmp/note" }),
      call("bash", { command: "pwd; echo $WHO$here; cat /tmp/note; ls -d er; cat /tmp/note > noted.txt" }),
      { text: "{{ results.1 }}" },
    ],
  },
  { when: "/^look for /", steps: [call("grep", { pattern: "(a+)+$" }), { text: "{{ results.0 }}" }] },
  {
    when: "/^echo seen/",
    steps: [call("bash", { command: "{{ message }}", timeoutMs: 1000 }), { text: "{{ results.0 }}" }],
  },
  { when: "/^\\/\\/ code/", steps: [call("executeCode", { code: "{{ message }}" }), { text: "{{ results.0 }}" }] },
  { steps: [call("bash", { command: "{{ message }}" }), { text: "{{ results.0 }}" }] },
];

beforeAll(async () => {
  site = http.createServer((request, response) => {
    if (request.url === "/elsewhere") return void response.writeHead(302, { location: "/secret" }).end();
    response.writeHead(200, { "content-type": "text/plain" }).end(`${request.method} ${request.url}\n`);
  });
  await new Promise<void>((resolve) => site.listen(0, "127.0.0.1", resolve));
  origin = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
  testbed = await openTestbed({
    worker: new URL("../kit/worker/system.worker.ts", import.meta.url),
    config: { sandboxSlots: 1, maxFailuresPerMinute: 1000, toolOrigins: [origin] },
    scripts: { default: script },
  });
});

afterAll(async () => {
  await testbed?.stop();
  site?.close();
  site?.closeAllConnections();
});

async function run(agent: TestAgent, message: string): Promise<string> {
  const { type, data } = await agent.say(message);
  expect(type).toBe("agent.completed");
  return (data as { result: string }).result;
}

const createAgentWithPolicy = async (...policy: object[]) =>
  testbed.newAgent({ blueprint: await testbed.newBlueprint({ config: { policy } }) });

const createHeaders = () => ({ authorization: `Bearer ${testbed.host().token}` });
const buildFileUrl = (agent: TestAgent, path: string) => `${testbed.host().url}${agent.at}/files/${path}`;
const read = async (agent: TestAgent, path: string) => {
  const response = await fetch(buildFileUrl(agent, path), { headers: createHeaders() });
  return response.status === 200 ? response.text() : response.status;
};
const put = async (agent: TestAgent, path: string, body: string | Uint8Array<ArrayBuffer>) =>
  expect((await fetch(buildFileUrl(agent, path), { method: "PUT", headers: createHeaders(), body })).ok).toBe(true);

test("a command's file changes become one version, with the call as its origin", async () => {
  const agent = await testbed.newAgent();
  await put(agent, "a.txt", "one\ntwo\n");
  await put(agent, "old/b.txt", "b");
  expect(await run(agent, "sed -i s/two/2/ a.txt; mv old new; printf x > c.bin; cat a.txt; ls nowhere; exit 3")).toBe(
    "one\n2\nls: nowhere: No such file or directory\n\nexit code 3",
  );
  expect([
    await read(agent, "a.txt"),
    await read(agent, "new/b.txt"),
    await read(agent, "old/b.txt"),
    await read(agent, "c.bin"),
  ]).toEqual(["one\n2\n", "b", 404, "x"]);
  const { versions } = (await testbed.api(`${agent.at}/versions`)).body;
  const log: AgentEvent[] = await agent.log();
  const started = log.find(({ type }) => type === "tool.started");
  expect(versions[0].origin).toMatchObject({
    kind: "agent",
    tool: "bash",
    toolCall: (started as { data: { callId: string } } | undefined)?.data.callId,
  });
  expect(versions[0].changes).toEqual([
    { path: "a.txt", kind: "edit" },
    { path: "c.bin", kind: "add" },
    { path: "new/b.txt", kind: "move", from: "old/b.txt" },
  ]);
  const { actions } = (await testbed.api(`${agent.at}/actions?tool=bash`)).body;
  expect(actions[0]).toMatchObject({ action: "run", success: true, outputSummary: "3 lines, exit code 3" });
});

test("the working directory, exported variables and /tmp last for the turn", async () => {
  const agent = await testbed.newAgent();
  expect(await run(agent, "in two")).toMatch(/^\/work\/deep\nme\nkept\ner$/);
  expect(await read(agent, "deep/noted.txt")).toBe("kept\n");
  expect(await run(agent, "pwd; echo [$WHO]; ls /tmp; ls -R deep")).toBe("/work\n[]\ndeep:\nnoted.txt");
});

test("a command that sleeps hits its timeout, one that spins hits its limits, and the next one runs", async () => {
  const agent = await testbed.newAgent();
  expect(await run(agent, "echo seen; sleep 60")).toMatch(
    /exit code 124\n\nNote: The command did not finish within 1 s and was stopped\.$/,
  );
  expect(await run(agent, "while :; do :; done")).toContain("too many commands executed");
  expect(await run(agent, "echo on")).toBe("on");
});

test("changes made by others during a command survive", async () => {
  const agent = await testbed.newAgent();
  await put(agent, "list.txt", "one\ntwo\nthree\nfour\nfive\n");
  const { runId } = await agent.invoke({ message: "sed -i s/five/5/ list.txt; sleep 1; echo done" });
  await agent.waitForEvent("the command to start", ({ type }) => type === "tool.started");
  // The command has its working copy by now, or gets the newer one; both are correct.
  await put(agent, "list.txt", "1\ntwo\nthree\nfour\nfive\n");
  await put(agent, "mine.txt", "mine");
  await agent.waitForEnd(runId);
  expect([await read(agent, "list.txt"), await read(agent, "mine.txt")]).toEqual(["1\ntwo\nthree\nfour\n5\n", "mine"]);
});

test("code runs commands in its own sandbox and imports workspace files", async () => {
  const agent = await testbed.newAgent();
  await put(
    agent,
    "lib/sum.ts",
    'import data from "./data.json";\nexport const sum = (more: number): number => data.n + more;\n',
  );
  await put(agent, "lib/data.json", '{"n": 40}');
  expect(
    await run(
      agent,
      '// code\nimport { sum } from "./lib/sum.ts";\nconst output = await tools.bash({ command: "cat lib/data.json; echo 2 > out.txt" });\nconst again = await tools.bash({ command: "cat out.txt" });\nreturn `${sum(2)} ${output} ${again.trim()}`',
    ),
  ).toBe('42 {"n": 40} 2');
  expect(await read(agent, "out.txt")).toBe("2\n");
  expect(await run(agent, '// code\nimport { sum } from "./lib/no.ts"')).toContain(
    "There is no file “lib/no.ts” in the workspace (code:2:21)",
  );
});

test("policy rules apply to every command, however it is invoked", async () => {
  const agent = await createAgentWithPolicy(
    { tool: "bash", match: "rm", action: "deny" },
    { tool: "bash", match: "mv * /tmp/*", action: "ask" },
  );
  await put(agent, "a.txt", "a");
  // A command that can be seen to need approval waits for it; one that only shows when it runs is denied.
  expect(
    await run(
      agent,
      "rm a.txt; echo a.txt | xargs rm; find . -name a.txt -exec rm {} +; $(echo mv) a.txt /tmp/a; mv a.txt b.txt",
    ),
  ).toBe(
    "rm: denied by this agent's policy\nrm: denied by this agent's policy\nrm: denied by this agent's policy\nmv: needs a person's approval, which a command inside a script or a substitution cannot wait for yet; run it as a command of its own",
  );
  expect(await read(agent, "b.txt")).toBe("a");
  const denied = await createAgentWithPolicy({ tool: "bash", action: "deny" });
  expect(await run(denied, "echo hi")).toContain("The policy of this agent denies bash");
});

test("the network is available only where a fetch rule allows it, and every request is checked", async () => {
  expect(await run(await testbed.newAgent(), `curl -s ${origin}/a`)).toContain("curl: command not found");
  const agent = await createAgentWithPolicy(
    { tool: "fetch", match: `${origin}/a*`, action: "allow" },
    { tool: "fetch", match: `${origin}/elsewhere`, action: "allow" },
  );
  expect(await run(agent, `curl -s ${origin}/a | tee got.txt`)).toBe("GET /a");
  expect(await read(agent, "got.txt")).toBe("GET /a\n");
  for (const command of [`curl -sS ${origin}/secret`, `curl -sSL ${origin}/elsewhere`, `curl -sS -X POST ${origin}/a`])
    expect(await run(agent, command)).toContain("No policy rule allows this call of fetch");
  const { actions } = (await testbed.api(`${agent.at}/actions?tool=fetch`)).body;
  expect(actions.map(({ success }: { success: boolean }) => success)).toEqual([false, false, true, false, true]);
});

test("a command reads what it needs of a large workspace with binary files", async () => {
  const agent = await testbed.newAgent();
  const text = (letter: string) => `${letter.repeat(99)}\n`.repeat(9000);
  for (const letter of ["a", "b", "c", "d", "e", "f"]) await put(agent, `${letter}.txt`, text(letter));
  await put(agent, "p.png", Uint8Array.of(0x89, 0x50, 0xff, 0x00));
  expect(
    await run(
      agent,
      "cat *.txt | wc -c; grep -c ^eee e.txt; head -c 3 f.txt; echo; wc -c < p.png; cp p.png q.png; sed -i 1s/a/A/ a.txt",
    ),
  ).toBe("5400000\n9000\nfff\n4");
  const [q, a] = await Promise.all([
    fetch(buildFileUrl(agent, "q.png"), { headers: createHeaders() }),
    read(agent, "a.txt"),
  ]);
  expect([...new Uint8Array(await q.arrayBuffer())]).toEqual([0x89, 0x50, 0xff, 0x00]);
  expect(String(a).slice(0, 3)).toBe("Aaa");
  expect(await run(agent, "head -c 3 a.txt; diff p.png q.png && rm [b-f].txt; ls")).toBe("Aaaa.txt\np.png\nq.png");
});

test("a regular expression that never ends blocks its sandbox, not the host, and can be canceled", async () => {
  const agent = await testbed.newAgent();
  await put(agent, "a.txt", `${"a".repeat(60)}!`);
  const { runId } = await agent.invoke({ message: "look for it" });
  await agent.waitForEvent("the search to start", ({ type }) => type === "tool.started");
  expect((await testbed.api("/health")).status).toBe(200);
  expect(await read(agent, "a.txt")).toHaveLength(61);
  await agent.cancel();
  expect((await agent.waitForEnd(runId)).type).toBe("run.canceled");
  expect(await run(agent, "echo on")).toBe("on");
});

test("invalid file names are reported, and all other files are saved", async () => {
  const agent = await testbed.newAgent();
  const result = await run(
    agent,
    "echo 1 > good.txt; echo 2 > 'con.txt'; echo 3 > 'a\\b'; ln -s good.txt link; mkdir empty",
  );
  expect(result).toContain("“con.txt” was not saved");
  expect(result).toContain("A workspace cannot store symbolic links; dropped: link.");
  expect(await read(agent, "good.txt")).toBe("1\n");
});
