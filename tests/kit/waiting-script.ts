/** What a model wrote that must be inert and visible on the page. */
const hostile = '</pre><img src=x onerror="window.owned=1">\u202e\u200bgnp.exe';

const call = (tool: string, input: object = {}) => ({ call: { tool, input } });
const profile = {
  type: "object",
  properties: {
    name: { type: "string", title: "Project name", description: "Shown to <b>everyone</b>.", maxLength: 40 },
    notes: { type: "string", maxLength: 2000 },
    stars: { type: "integer", minimum: 1, maximum: 5 },
    budget: { type: "number" },
    public: { type: "boolean" },
    license: { enum: ["MIT", "Apache-2.0", "none"] },
    country: { enum: ["AT", "BE", "CH", "DE", "ES", "FR", "IT"] },
    targets: { type: "array", items: { enum: ["linux", "mac", "windows"] } },
    owner: { type: "object", properties: { email: { type: "string", minLength: 5 } }, required: ["email"] },
    labels: { type: "array", items: { type: "string" } },
  },
  required: ["name", "stars", "public", "license", "targets", "owner"],
  additionalProperties: false,
};

/** An agent's script with calls that wait: for approval if its blueprint asks about them, for answers, and for a time. */
export const waitingScript = [
  {
    when: "/^write$/",
    steps: [
      { text: "I will note it down." },
      call("writeFile", { path: "notes.md", content: "# Notes\n\nThe cache was full.\n" }),
      { text: "Heard: {{ results.0 }}" },
    ],
  },
  {
    when: "/^fix$/",
    steps: [
      call("readFile", { path: "a.ts" }),
      call("editFile", { path: "a.ts", oldString: "const limit = 10;", newString: "const limit = 100;" }),
      { text: "Heard: {{ results.1 }}" },
    ],
  },
  {
    when: "/^run$/",
    steps: [call("bash", { command: "rm -rf build" }), { text: "{{ results.0 }}" }],
  },
  {
    when: "/^both$/",
    steps: [
      {
        calls: [
          { tool: "writeFile", input: { path: "a.txt", content: "one\n" } },
          { tool: "writeFile", input: { path: "b.txt", content: "two\n" } },
        ],
      },
      { text: "{{ results.0 }} | {{ results.1 }}" },
    ],
  },
  { when: "/^hostile$/", steps: [call("bash", { command: hostile }), { text: "{{ results.0 }}" }] },
  {
    when: "/^ask$/",
    steps: [call("askUser", { prompt: "Which **branch** should I use?" }), { text: "I use {{ results.0 }}." }],
  },
  {
    when: "/^form$/",
    steps: [
      call("askUser", { prompt: `Tell me about the project ${hostile}`, schema: profile }),
      { text: "Got {{ results.0 }}" },
    ],
  },
  { when: "/^sleep$/", steps: [call("sleepUntil", { when: 3600 }), { text: "Awake." }] },
  {
    when: "/^delegate$/",
    steps: [call("task", { description: "Clean up" }), { text: "Got: {{ results.0 }}" }],
  },
  { when: "/^Clean up$/", steps: [call("writeFile", { path: "clean.md", content: "" }), { text: "Cleaned." }] },
  { steps: [{ text: "You said: {{ message }}" }] },
];
