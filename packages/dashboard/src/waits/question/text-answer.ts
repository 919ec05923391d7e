import type { Continuation, Waits } from "@thinkery/sdk";
import { useState } from "react";
import { call } from "../../api/host.ts";
import type { AgentPlace } from "../../api/inbox.ts";
import { getErrorMessage } from "../../api/login.ts";
import { announce } from "../../frame/announce.tsx";
import { explainLateAnswer } from "../use-answer.ts";

/** Returns the oldest open question whose answer is a text. */
export function findTextQuestion({ continuations }: Waits): Continuation | undefined {
  return continuations.find(({ kind, schema }) => kind === "input" && schema === undefined);
}

/** Sends a text from the composer as the answer to a question. */
export function useTextAnswer({ agency, agent }: AgentPlace) {
  const [failure, setFailure] = useState<string>();
  return {
    failure,
    /** Resolves to whether the answer was accepted. */
    async send({ id: continuationId }: Continuation, value: string): Promise<boolean> {
      setFailure(undefined);
      try {
        await call("answerQuestion", { params: { agency, agent }, body: { continuationId, value } });
        announce("Answer sent.");
        return true;
      } catch (error) {
        setFailure(explainLateAnswer(error) ?? getErrorMessage(error));
        return false;
      }
    },
  };
}
