import { type Approval, isThinkeryError } from "@thinkery/sdk";
import { useState } from "react";
import { call } from "../api/host.ts";
import type { AgentPlace } from "../api/inbox.ts";
import { getErrorMessage } from "../api/login.ts";
import { announce } from "../frame/announce.tsx";
import type { AnswerBody } from "./approval/build-answer.ts";
import { describeOutcome } from "./approval/describe-approval.ts";

interface Answering {
  busy: boolean;
  failure: string | undefined;
  /** Resolves to whether the answer was accepted. */
  send(body: AnswerBody): Promise<boolean>;
}

/** What became of an item that waits for an answer. */
export interface ItemChange {
  /** As it is after the answer. */
  approval?: Approval;
  /** Why an answer was not used: somebody else was faster, or the turn is over. */
  failure?: string;
}

/** Sends answers to an approval, one at a time. `onChange` is called when it has changed on the host. */
export function useAnswer({ agency, agent }: AgentPlace, onChange: (change: ItemChange) => void): Answering {
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<string>();
  return {
    busy,
    failure,
    async send(body) {
      setBusy(true);
      setFailure(undefined);
      try {
        const approval = await call("approve", { params: { agency, agent }, body });
        announce(approval.status === "pending" ? "Call decided. Others still wait." : describeOutcome(approval));
        onChange({ approval });
        return true;
      } catch (error) {
        const failure = explainLateAnswer(error);
        setFailure(failure ?? getErrorMessage(error));
        if (failure !== undefined) onChange({ failure });
        return false;
      } finally {
        setBusy(false);
      }
    },
  };
}

/** Returns undefined if the answer can be corrected. */
export function explainLateAnswer(error: unknown): string | undefined {
  const isOver = isThinkeryError(error) && (error.code === "conflict" || error.code === "not_found");
  return isOver ? `${error.message} Your answer was not used.` : undefined;
}
