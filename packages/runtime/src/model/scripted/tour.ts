import type { ScriptInput } from "@thinkery/sdk";

const primes = `const isPrime = (n: number): boolean => {
  for (let d = 2; d * d <= n; d++) if (n % d === 0) return false;
  return n > 1;
};
const primes = Array.from({ length: 60 }, (_, n) => n).filter(isPrime);
console.log(\`\${primes.length} of them below 60\`);
await tools.set_title({ title: "Primes below 60" });
return primes.slice(-5);`;

const athens = `mkdir -p notes && cat > notes/athens.md <<'END'
# Athens
- The Acropolis
- The Agora
END
wc -l notes/*.md | sort -n`;

const places = [
  { name: "the Acropolis", file: "acropolis", text: "Go early, before the heat and the crowds." },
  { name: "the Agora", file: "agora", text: "Where Socrates used to ask his questions." },
];

/** The default script for hosts without a model: a short tour, and how to set up a real model. */
export const tour: ScriptInput = {
  description: "A short tour of Thinkery, for hosts without a model.",
  pace: 15,
  exchanges: [
    ...describePlaces(),
    {
      when: String.raw`/\b(teams?|sub-?agents?|delegate|parallel)\b/i`,
      steps: [
        {
          text: "Large work is split among sub-agents. I will ask two at the same time. Each has a conversation of its own, and works on its own branch of my files:",
        },
        {
          calls: places.map(({ name }) => ({
            tool: "task",
            input: { description: `Describe ${name}.`, workspace: "fork" },
          })),
        },
        {
          text: "Both have reported, and what they wrote was merged into my files:\n\n{{ results.0 }}\n\n{{ results.1 }}\n\nOpen them in the list of agents, or with `thinkery ls`. They, too, go on after a crash, and report exactly once.",
        },
      ],
    },
    {
      when: String.raw`/\b(approv(e|al|als|ing)|permissions?)\b/i`,
      steps: [
        { text: "Agents can wait for you, for days and over restarts. First a question:" },
        { call: { tool: "askUser", input: { prompt: "What shall I write into hello.md?" } } },
        { call: { tool: "writeFile", input: { path: "hello.md", content: "{{ results.0 }}\n" } } },
        { text: "Written. Now I delete the file. If a rule says so, I need your approval first:" },
        { call: { tool: "deleteFile", input: { path: "hello.md" } } },
        {
          text: [
            "The result:\n\n{{ results.2 }}\n\nYou decide what needs approval. To be asked before I delete, run",
            '`echo \'[{"tool": "deleteFile", "action": "ask"}]\' | thinkery policy set`',
            "and say “approve” again. `thinkery approval ls` shows what waits for you.",
          ].join("\n"),
        },
      ],
    },
    {
      when: String.raw`/\b(models?|api|keys?|providers?|openai|anthropic|claude|gpt|gemini|google|ollama|lm studio)\b/i`,
      steps: [
        { call: { tool: "set_title", input: { title: "Getting a real model" } } },
        {
          text: [
            "I am a scripted model: my replies are canned. To use a real model, set one of these variables where you start Thinkery, or in a .env file in that folder:",
            "",
            "- ANTHROPIC_API_KEY, OPENAI_API_KEY or GOOGLE_GENERATIVE_AI_API_KEY",
            "- LLM_API_BASE and LLM_API_KEY for any OpenAI-compatible server",
            "- nothing for Ollama or LM Studio on this machine: they are detected automatically",
            "",
            "Then run `thinkery restart`. `thinkery providers` shows what was found, and `thinkery models` lists the models you can choose from.",
          ].join("\n"),
        },
      ],
    },
    {
      when: String.raw`/\b(help|commands?|what can|how do|how to|who are you|what are you)\b/i`,
      steps: [
        {
          text: [
            "I am a scripted model, so I only know a few lines. Everything around me is real, though:",
            "",
            "- `thinkery new alice` creates an agent, `thinkery chat alice` talks to it, `thinkery ls` lists them",
            '- `thinkery run alice "do this"` gives it a job and prints the answer',
            "- `thinkery doctor` checks what is missing on this machine",
            "",
            "Ask me about “models” to learn how to set up a real one.",
          ].join("\n"),
        },
      ],
    },
    {
      when: String.raw`/\b(files?|folders?|workspace|shell|bash|history|undo|revert|versions?)\b/i`,
      steps: [
        { text: "Every agent has its own files and a shell. I will write a file, read it, and edit it:" },
        { call: { tool: "bash", input: { command: athens } } },
        { call: { tool: "readFile", input: { path: "notes/athens.md" } } },
        {
          call: {
            tool: "editFile",
            input: {
              path: "notes/athens.md",
              oldString: "- The Agora",
              newString: "- The Agora, early in the morning",
            },
          },
        },
        {
          text: "The shell printed:\n\n{{ results.0 }}\n\nEach of these changes is a version that records who made it. Open “Files” to see them, edit the files yourself, or revert a change; or use `thinkery files`, `thinkery versions` and `thinkery revert`.",
        },
      ],
    },
    {
      when: String.raw`/\b(todos?|plan|list|steps?)\b/i`,
      steps: [
        { text: "Here is how an agent plans. Watch the list next to our conversation." },
        { call: createPlanTodos("in_progress", "pending") },
        { wait: 400 },
        { call: createPlanTodos("completed", "in_progress") },
        { wait: 400 },
        { call: createPlanTodos("completed", "completed") },
        {
          text: "Each of these changes was a tool call: checked, logged, and only then executed. A real model plans the same way.",
        },
      ],
    },
    {
      when: String.raw`/\b(code|compute|calculate|javascript|typescript|sandbox)\b/i`,
      steps: [
        { text: "Agents can write and run code. Here is some TypeScript, which also calls one of my tools:" },
        { call: { tool: "executeCode", input: { code: primes } } },
        {
          text: "It ran in a sandbox: a separate process without network, files or keys, which is killed if it hangs or uses too much memory. It returned:\n\n{{ results.0 }}",
        },
      ],
    },
    {
      steps: [
        {
          reasoning:
            "Someone is here. There is no model behind me, so I should say so plainly and show what Thinkery does.",
        },
        {
          text: "Welcome to Thinkery. I am a scripted model: no real model is set up yet, so I play a short, prepared tour. Everything around me is real.",
        },
        { call: { tool: "set_title", input: { title: "A tour of Thinkery" } } },
        { text: "I have just given our conversation a title. Next, a plan:" },
        { call: createTourTodos("in_progress", "pending", "pending") },
        { wait: 300 },
        {
          text: "Agents remember: every message and step is on disk before you see it. Stop the host in the middle of a turn, and it continues where it was.",
        },
        { call: createTourTodos("completed", "in_progress", "pending") },
        { wait: 300 },
        { text: "Agents act through tools, like this list of todos, and each call is checked and logged first." },
        { call: createTourTodos("completed", "completed", "in_progress") },
        { wait: 300 },
        {
          text: "And agents think with the model you choose: set ANTHROPIC_API_KEY, OPENAI_API_KEY or GOOGLE_GENERATIVE_AI_API_KEY, or start Ollama, and run `thinkery restart`.",
        },
        { call: createTourTodos("completed", "completed", "completed") },
        {
          text: "That was the tour. Ask me about “models” or “help”, say “plan” to watch a to-do list being worked through, “code” to see code run, “files” to see files written, “team” to see sub-agents at work, or “approve” to be asked before something happens.",
        },
      ],
    },
    {
      steps: [
        {
          text: "I am only a script and cannot answer that. Ask about “models” to learn how to set up a real one, “help” for the commands, or “plan”, “code”, “files”, “team” or “approve” for a small demonstration.",
        },
      ],
    },
  ],
};

/** What the sub-agents of the tour do. */
function describePlaces(): ScriptInput["exchanges"] {
  return places.map(({ name, file, text }) => ({
    when: `/^Describe ${name}\\.$/`,
    steps: [
      { wait: 1000 },
      { call: { tool: "writeFile", input: { path: `guide/${file}.md`, content: `${text}\n` } } },
      { wait: 1000 },
      { text: `I have described ${name} in guide/${file}.md.` },
    ],
  }));
}

type Status = "pending" | "in_progress" | "completed";

function createTourTodos(remember: Status, act: Status, think: Status) {
  const items: [string, Status][] = [
    ["See how agents remember", remember],
    ["See how agents act", act],
    ["Learn how to choose a model", think],
  ];
  return { tool: "write_todos", input: { todos: items.map(([content, status]) => ({ content, status })) } };
}

function createPlanTodos(write: Status, tick: Status) {
  const items: [string, Status][] = [
    ["Write the plan down", write],
    ["Check it off", tick],
  ];
  return { tool: "write_todos", input: { todos: items.map(([content, status]) => ({ content, status })) } };
}
