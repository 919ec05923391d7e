import type { AgentStatus } from "@thinkery/sdk";
import { useState } from "react";
import { call } from "../api/host.ts";
import { getErrorMessage } from "../api/login.ts";
import { announce } from "../frame/announce.tsx";
import { Button } from "../parts/button.tsx";
import { Icon } from "../parts/icon.tsx";

interface LifecycleButtonProps {
  agency: string;
  agent: string;
  status: AgentStatus["status"];
}

/** Stops an agent, or starts one that is stopped. */
export function LifecycleButton({ agency, agent, status }: LifecycleButtonProps) {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<string>();
  const stopped = status === "stopped";

  const change = async () => {
    setBusy(true);
    setError(undefined);
    try {
      await call(stopped ? "startAgent" : "stopAgent", { params: { agency, agent } });
      announce(`Agent ${agent} ${stopped ? "started" : "stopped"}.`);
    } catch (failure) {
      setError(getErrorMessage(failure));
    } finally {
      setBusy(false);
    }
  };

  return (
    <>
      <Button
        busy={busy}
        title={stopped ? undefined : "Cancels the turn and refuses messages until the agent is started"}
        onClick={() => void change()}
      >
        <Icon name={stopped ? "play" : "stop"} /> {stopped ? "Start agent" : "Stop agent"}
      </Button>
      {error && <span role="alert">{error}</span>}
    </>
  );
}
