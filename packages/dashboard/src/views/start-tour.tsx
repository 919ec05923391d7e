import { isThinkeryError } from "@thinkery/sdk";
import { useState } from "react";
import { getContentsSource } from "../api/agencies.ts";
import { call } from "../api/host.ts";
import { getErrorMessage } from "../api/login.ts";
import { createOutbox } from "../chat/outbox.ts";
import { navigate, buildPath } from "../frame/navigation.ts";
import { Button } from "../parts/button.tsx";
import { Notice } from "../parts/notice.tsx";

const name = "tour";
const greeting = "Hello! Show me around.";

/** One click: an agent, a first message to it, and a seat beside it. */
export function StartTour({ user, agency }: { user: string; agency: string }) {
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string>();

  const start = async () => {
    setBusy(true);
    try {
      await call("createAgent", { params: { agency }, body: { name } });
      // The conversation sends what lies in the outbox as soon as it is open. The id makes the greeting one greeting.
      createOutbox({ user, agency, agent: name }).add({
        id: "tour-greeting",
        content: greeting,
        mode: "queue",
        at: Date.now(),
      });
    } catch (error) {
      // Somebody started it already, in another tab perhaps: then there is something to look at.
      if (!isThinkeryError(error) || error.code !== "conflict") {
        setProblem(getErrorMessage(error));
        setBusy(false);
        return;
      }
    }
    await getContentsSource(agency).reload();
    navigate(buildPath(agency, name));
  };

  return (
    <>
      <Button kind="main" busy={busy} onClick={() => void start()}>
        Start the tour
      </Button>
      {problem && (
        <div role="alert">
          <Notice tone="bad">{problem}</Notice>
        </div>
      )}
    </>
  );
}
