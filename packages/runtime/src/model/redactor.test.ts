import { expect, test } from "vitest";
import type { ModelEnv } from "./providers.ts";
import { createSecretRedactor } from "./redactor.ts";

test("every provider's key is redacted, even in an isolate that never opened a model", () => {
  const { redact } = createSecretRedactor({
    OPENAI_API_KEY: "plain-openai-key",
    OWN_KEY: " plain-own-key ",
    MODEL_CONFIG: { providers: { own: { baseUrl: "http://127.0.0.1/v1", apiKeyVariable: "OWN_KEY" } }, prices: {} },
  } as ModelEnv);
  expect(redact("plain-openai-key, plain-own-key, plain words")).toBe("[redacted], [redacted], plain words");
});
