import type { Mode } from "@thinkery/sdk";
import { type FormEvent, type KeyboardEvent, type ReactNode, type RefObject, useLayoutEffect, useState } from "react";
import { Button } from "../parts/button.tsx";
import { Icon } from "../parts/icon.tsx";

interface ComposerProps {
  agent: string;
  text: string;
  onText(text: string): void;
  /** Whether a turn is running; the user can then choose when to send. */
  running: boolean;
  /** Whether the agent is stopped and accepts no messages. */
  stopped: boolean;
  /** Set while the agent has asked for a text: sends the answer, and resolves to whether it was accepted. */
  onAnswer?: ((content: string) => Promise<boolean>) | undefined;
  /** Returns whether the message was accepted; if not, the text stays in the field. */
  onSend(content: string, mode: Mode): boolean;
  onCancel: (() => void) | undefined;
  status: ReactNode;
  field: RefObject<HTMLTextAreaElement | null>;
}

/** How a text is sent: as a message, or as the answer to the agent's question. */
type SendMode = Mode | "answer";

const modeLabels: Record<Mode, string> = {
  queue: "Send after this turn",
  steer: "Add to this turn",
  interrupt: "Stop this turn and send",
};

const maxHeightPx = 240;

export function Composer(props: ComposerProps) {
  const { agent, text, onText, running, stopped, onSend, onAnswer, onCancel, status, field } = props;
  const [chosen, setChosen] = useState<SendMode>();
  const [busy, setBusy] = useState(false);
  const mode = chosen === "answer" && !onAnswer ? "queue" : (chosen ?? (onAnswer ? "answer" : "queue"));

  useLayoutEffect(() => {
    const element = field.current;
    if (!element) return;
    element.style.height = "auto";
    element.style.height = `${Math.min(element.scrollHeight + 2, maxHeightPx)}px`;
  }, [field, text]);

  const send = (event?: FormEvent) => {
    event?.preventDefault();
    if (stopped || busy || text.trim() === "") return;
    if (mode === "answer") return void sendAnswer();
    if (!onSend(text, running ? mode : "queue")) return;
    clear();
  };
  const sendAnswer = async () => {
    setBusy(true);
    const isAccepted = await onAnswer?.(text);
    setBusy(false);
    if (isAccepted) clear();
  };
  const clear = () => {
    onText("");
    setChosen(undefined);
    field.current?.focus();
  };

  const onKeyDown = (event: KeyboardEvent) => {
    // During IME composition, Enter confirms the character.
    if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    send();
  };

  return (
    <form className="composer" onSubmit={send}>
      <div className="composer-turn">
        {status}
        {running && (
          <div className="composer-choices">
            <select
              aria-label="When to send"
              value={mode}
              onChange={(event) => setChosen(event.target.value as SendMode)}
            >
              {onAnswer && <option value="answer">As the answer</option>}
              {Object.entries(modeLabels).map(([value, label]) => (
                <option key={value} value={value}>
                  {label}
                </option>
              ))}
            </select>
            <Button disabled={!onCancel} title="Esc" onClick={onCancel}>
              <Icon name="stop" /> Cancel
            </Button>
          </div>
        )}
      </div>
      <div className="composer-field">
        <label className="visually-hidden" htmlFor="composer">
          Message to {agent}
        </label>
        <textarea
          ref={field}
          id="composer"
          rows={1}
          value={text}
          placeholder={mode === "answer" ? `Answer ${agent}` : `Message ${agent}`}
          enterKeyHint="send"
          onChange={(event) => onText(event.target.value)}
          onKeyDown={onKeyDown}
        />
        <Button type="submit" kind="main" disabled={stopped || busy || text.trim() === ""}>
          <Icon name="send" /> {mode === "answer" ? "Answer" : "Send"}
        </Button>
      </div>
    </form>
  );
}
