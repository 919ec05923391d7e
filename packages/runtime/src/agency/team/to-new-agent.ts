import type { NewAgent, WorkflowAgent } from "@thinkery/sdk";

/** Converts an agent of a workflow to what an agency creates agents from. */
export function toNewAgent(name: string, agent: WorkflowAgent): NewAgent {
  const { backend, blueprint, model, system_prompt: system, tools, max_steps, max_tokens, settings } = agent;
  const budget = { ...settings?.budget, ...(max_steps === undefined ? {} : { steps: max_steps }) };
  const modelSettings = {
    ...(settings?.temperature === undefined ? {} : { temperature: settings.temperature }),
    ...(max_tokens === undefined ? {} : { maxOutputTokens: max_tokens }),
  };
  const props = {
    ...(tools === undefined ? {} : { tools }),
    ...(Object.keys(budget).length > 0 ? { budget } : {}),
    ...(Object.keys(modelSettings).length > 0 ? { settings: modelSettings } : {}),
    ...(settings?.reasoning === undefined ? {} : { reasoning: settings.reasoning }),
  };
  return {
    name,
    ...(backend === undefined ? {} : { backend }),
    ...(blueprint === undefined ? {} : { blueprint }),
    ...(model === undefined ? {} : { model }),
    ...(system === undefined ? {} : { system }),
    ...(Object.keys(props).length > 0 ? { props } : {}),
  };
}
