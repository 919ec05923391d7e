/* oxlint-disable import/default -- Vite imports text because of `?raw`, esbuild because of the attribute */
import basicPackage from "../../../../../examples/agents/basic/package.json?raw" with { type: "text" };
import basicTest from "../../../../../examples/agents/basic/src/agent.test.ts?raw" with { type: "text" };
import basicCode from "../../../../../examples/agents/basic/src/agent.ts?raw" with { type: "text" };
import chatPackage from "../../../../../examples/agents/chat/package.json?raw" with { type: "text" };
import chatTest from "../../../../../examples/agents/chat/src/agent.test.ts?raw" with { type: "text" };
import chatCode from "../../../../../examples/agents/chat/src/agent.ts?raw" with { type: "text" };
import counterPackage from "../../../../../examples/agents/counter/package.json?raw" with { type: "text" };
import counterTest from "../../../../../examples/agents/counter/src/agent.test.ts?raw" with { type: "text" };
import counterCode from "../../../../../examples/agents/counter/src/agent.ts?raw" with { type: "text" };
import knowledgePackage from "../../../../../examples/agents/knowledge/package.json?raw" with { type: "text" };
import knowledgeTest from "../../../../../examples/agents/knowledge/src/agent.test.ts?raw" with { type: "text" };
import knowledgeCode from "../../../../../examples/agents/knowledge/src/agent.ts?raw" with { type: "text" };

/** The texts of an example in `examples/agents`. */
export interface Template {
  code: string;
  test: string;
  packageJson: string;
}

export const templates: Record<string, Template> = {
  basic: { code: basicCode, test: basicTest, packageJson: basicPackage },
  chat: { code: chatCode, test: chatTest, packageJson: chatPackage },
  counter: { code: counterCode, test: counterTest, packageJson: counterPackage },
  knowledge: { code: knowledgeCode, test: knowledgeTest, packageJson: knowledgePackage },
};
