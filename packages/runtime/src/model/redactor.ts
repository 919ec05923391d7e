import { createRedactor, type Redact } from "../store/redact.ts";
import { type ModelEnv, collectProviders } from "./providers.ts";

/**
 * Redacts the keys of this environment's providers. Derived from the environment alone, so every isolate knows them
 * from its first object on, whether or not it has ever opened a model.
 */
export function createKeyRedactor(env: ModelEnv): Redact {
  return createRedactor([...collectProviders(env).values()].flatMap(({ key }) => key ?? []));
}
