import { Notice } from "../parts/notice.tsx";

const keys = [
  ["ANTHROPIC_API_KEY", "Anthropic"],
  ["OPENAI_API_KEY", "OpenAI"],
  ["GOOGLE_GENERATIVE_AI_API_KEY", "Google"],
  ["OLLAMA_HOST", "local models"],
  ["LLM_API_BASE", "any OpenAI-compatible API; set its key in LLM_API_KEY"],
] as const;

export function NoModel() {
  return (
    <Notice tone="warn" title="No API key set">
      <p>
        Until one is set, agents reply from a script that only knows a short tour. Set one of these environment
        variables, or add it to a <code>.env</code> file in the folder where you start the host, then run{" "}
        <code>thinkery restart</code>.
      </p>
      <dl className="keys">
        {keys.map(([key, description]) => (
          <div key={key}>
            <dt>
              <code>{key}</code>
            </dt>
            <dd>{description}</dd>
          </div>
        ))}
      </dl>
    </Notice>
  );
}
