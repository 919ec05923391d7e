import { Notice } from "../parts/notice.tsx";

const keys = [
  ["ANTHROPIC_API_KEY", "Anthropic"],
  ["OPENAI_API_KEY", "OpenAI"],
  ["GOOGLE_GENERATIVE_AI_API_KEY", "Google"],
  ["OLLAMA_HOST", "models on this machine"],
  ["LLM_API_BASE", "anything that speaks OpenAI's format; its key in LLM_API_KEY"],
] as const;

export function NoModel() {
  return (
    <Notice tone="warn" title="No model key is set.">
      <p>
        Until there is one, agents answer by a script that only knows a short tour. Set one of these in the environment,
        or in a <code>.env</code> file in the folder where you start the host, then run <code>thinkery restart</code>.
      </p>
      <dl className="keys">
        {keys.map(([key, what]) => (
          <div key={key}>
            <dt>
              <code>{key}</code>
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
    </Notice>
  );
}
