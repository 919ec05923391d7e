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

/** Creates the tour agent, sends it a first message and opens it. */
export function StartTour({ user, agency }: { user: string; agency: string }) {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<string>();

  const start = async () => {
    setBusy(true);
    try {
      await call("createAgent", { params: { agency }, body: { name } });
      // The conversation sends the outbox as soon as it opens. The fixed id prevents a second greeting.
      createOutbox({ user, agency, agent: name }).add({
        id: "tour-greeting",
        content: greeting,
        mode: "queue",
        at: Date.now(),
      });
    } catch (reason) {
      // If the tour was already started, perhaps in another tab, just open it.
      if (!isThinkeryError(reason) || reason.code !== "conflict") {
        setError(getErrorMessage(reason));
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
        Start tour
      </Button>
      {error && (
        <div role="alert">
          <Notice tone="bad">{error}</Notice>
        </div>
      )}
    </>
  );
}
