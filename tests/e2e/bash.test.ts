import http from "node:http";
import type { AddressInfo } from "node:net";
import type { AgentEvent } from "@thinkery/sdk";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openTestbed, type Testbed, type TestAgent } from "../kit/worker/testbed.ts";

// A shell on an agent's workspace: through the tool, from code, under its policy. There is one slot: whatever waits for a second one never ends.

let workshop: Testbed;
let site: http.Server;
let origin: string;

const call = (tool: string, input: object) => ({ call: { tool, input } });

/** What is said is the command, or code. */
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
  workshop = await openTestbed({
    worker: new URL("../kit/worker/system.worker.ts", import.meta.url),
    config: { sandboxSlots: 1, maxFailuresPerMinute: 1000, toolOrigins: [origin] },
    scripts: { default: script },
  });
});

afterAll(async () => {
  await workshop?.stop();
  site?.close();
  site?.closeAllConnections();
});

async function run(agent: TestAgent, message: string): Promise<string> {
  const { type, data } = await agent.say(message);
  expect(type).toBe("agent.completed");
  return (data as { result: string }).result;
}

const createAgentWithPolicy = async (...policy: object[]) =>
  workshop.newAgent({ blueprint: await workshop.newBlueprint({ config: { policy } }) });

const createHeaders = () => ({ authorization: `Bearer ${workshop.house().token}` });
const buildFileUrl = (agent: TestAgent, path: string) => `${workshop.house().url}${agent.at}/files/${path}`;
const read = async (agent: TestAgent, path: string) => {
  const response = await fetch(buildFileUrl(agent, path), { headers: createHeaders() });
  return response.status === 200 ? response.text() : response.status;
};
const put = async (agent: TestAgent, path: string, body: string | Uint8Array<ArrayBuffer>) =>
  expect((await fetch(buildFileUrl(agent, path), { method: "PUT", headers: createHeaders(), body })).ok).toBe(true);

test("what a command does to files is one version, with the call as its origin", async () => {
  const agent = await workshop.newAgent();
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
  const { versions } = (await workshop.api(`${agent.at}/versions`)).body;
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
  const { actions } = (await workshop.api(`${agent.at}/actions?tool=bash`)).body;
  expect(actions[0]).toMatchObject({ action: "run", success: true, outputSummary: "3 lines, exit code 3" });
});

test("its folder, exported variables and /tmp last as long as the turn", async () => {
  const agent = await workshop.newAgent();
  expect(await run(agent, "in two")).toMatch(/^\/work\/deep\nme\nkept\ner$/);
  expect(await read(agent, "deep/noted.txt")).toBe("kept\n");
  expect(await run(agent, "pwd; echo [$WHO]; ls /tmp; ls -R deep")).toBe("/work\n[]\ndeep:\nnoted.txt");
});

test("a command that waits is ended with its time, one that spins with its limits, and the next one runs", async () => {
  const agent = await workshop.newAgent();
  expect(await run(agent, "echo seen; sleep 60")).toMatch(/exit code 124\n\nNote: The command was ended after 1 s\.$/);
  expect(await run(agent, "while :; do :; done")).toContain("too many commands executed");
  expect(await run(agent, "echo on")).toBe("on");
});

test("what somebody else changes meanwhile survives", async () => {
  const agent = await workshop.newAgent();
  await put(agent, "list.txt", "one\ntwo\nthree\nfour\nfive\n");
  const { runId } = await agent.invoke({ message: "sed -i s/five/5/ list.txt; sleep 1; echo done" });
  await agent.seen("the command to begin", ({ type }) => type === "tool.started");
  // It has its view by now, or will have the newer one; both are right.
  await put(agent, "list.txt", "1\ntwo\nthree\nfour\nfive\n");
  await put(agent, "mine.txt", "mine");
  await agent.over(runId);
  expect([await read(agent, "list.txt"), await read(agent, "mine.txt")]).toEqual(["1\ntwo\nthree\nfour\n5\n", "mine"]);
});

test("code runs commands in the sandbox that it is in, and imports files of the workspace", async () => {
  const agent = await workshop.newAgent();
  await put(
    agent,
    "lib/sum.ts",
    'import data from "./data.json";\nexport const sum = (more: number): number => data.n + more;\n',
  );
  await put(agent, "lib/data.json", '{"n": 40}');
  expect(
    await run(
      agent,
      '// code\nimport { sum } from "./lib/sum.ts";\nconst said = await tools.bash({ command: "cat lib/data.json; echo 2 > out.txt" });\nconst again = await tools.bash({ command: "cat out.txt" });\nreturn `${sum(2)} ${said} ${again.trim()}`',
    ),
  ).toBe('42 {"n": 40} 2');
  expect(await read(agent, "out.txt")).toBe("2\n");
  expect(await run(agent, '// code\nimport { sum } from "./lib/no.ts"')).toContain(
    "There is no file “lib/no.ts” in the workspace (code:2:21)",
  );
});

test("rules hold for each command that is run, however it is called", async () => {
  const agent = await createAgentWithPolicy(
    { tool: "bash", match: "rm", action: "deny" },
    { tool: "bash", match: "mv * /tmp/*", action: "ask" },
  );
  await put(agent, "a.txt", "a");
  expect(
    await run(
      agent,
      "rm a.txt; echo a.txt | xargs rm; find . -name a.txt -exec rm {} +; mv a.txt /tmp/a; mv a.txt b.txt",
    ),
  ).toBe(
    "rm: denied by this agent's policy\nrm: denied by this agent's policy\nrm: denied by this agent's policy\nmv: denied by this agent's policy",
  );
  expect(await read(agent, "b.txt")).toBe("a");
  const closed = await createAgentWithPolicy({ tool: "bash", action: "deny" });
  expect(await run(closed, "echo hi")).toContain("The policy of this agent denies bash");
});

test("the network is there where a rule for fetch says so, and each request passes it", async () => {
  expect(await run(await workshop.newAgent(), `curl -s ${origin}/a`)).toContain("curl: command not found");
  const agent = await createAgentWithPolicy(
    { tool: "fetch", match: `${origin}/a*`, action: "allow" },
    { tool: "fetch", match: `${origin}/elsewhere`, action: "allow" },
  );
  expect(await run(agent, `curl -s ${origin}/a | tee got.txt`)).toBe("GET /a");
  expect(await read(agent, "got.txt")).toBe("GET /a\n");
  for (const command of [`curl -sS ${origin}/secret`, `curl -sSL ${origin}/elsewhere`, `curl -sS -X POST ${origin}/a`])
    expect(await run(agent, command)).toContain("No rule of this agent allows fetch");
  const { actions } = (await workshop.api(`${agent.at}/actions?tool=fetch`)).body;
  expect(actions.map(({ success }: { success: boolean }) => success)).toEqual([false, false, true, false, true]);
});

test("of a large workspace, and of what is not text, a command reads what it needs", async () => {
  const agent = await workshop.newAgent();
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

test("a pattern that never ends keeps its sandbox busy, not the host, and can be canceled", async () => {
  const agent = await workshop.newAgent();
  await put(agent, "a.txt", `${"a".repeat(60)}!`);
  const { runId } = await agent.invoke({ message: "look for it" });
  await agent.seen("the search to begin", ({ type }) => type === "tool.started");
  expect((await workshop.api("/health")).status).toBe(200);
  expect(await read(agent, "a.txt")).toHaveLength(61);
  await agent.cancel();
  expect((await agent.over(runId)).type).toBe("run.canceled");
  expect(await run(agent, "echo on")).toBe("on");
});

test("names that no workspace can have are told of, and the rest is kept", async () => {
  const agent = await workshop.newAgent();
  const told = await run(
    agent,
    "echo 1 > good.txt; echo 2 > 'con.txt'; echo 3 > 'a\\b'; ln -s good.txt link; mkdir empty",
  );
  expect(told).toContain("“con.txt” was not kept");
  expect(told).toContain("A workspace has no symbolic links; not kept: link.");
  expect(await read(agent, "good.txt")).toBe("1\n");
});
