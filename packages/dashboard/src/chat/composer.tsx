import type { Mode } from "@thinkery/sdk";
import { type FormEvent, type KeyboardEvent, type ReactNode, type RefObject, useLayoutEffect, useState } from "react";
import { Button } from "../parts/button.tsx";
import { Icon } from "../parts/icon.tsx";

interface ComposerProps {
  agent: string;
  text: string;
  onText(text: string): void;
  /** A turn runs, so there is a choice of when. */
  running: boolean;
  /** Answers whether it was sent; else it stays where it was written. */
  onSend(content: string, mode: Mode): boolean;
  onCancel: (() => void) | undefined;
  status: ReactNode;
  field: RefObject<HTMLTextAreaElement | null>;
}

const choices: Record<Mode, string> = {
  queue: "Send after this turn",
  steer: "Send into this turn",
  interrupt: "Stop this turn, then send",
};

const maxHeightPx = 240;

export function Composer({ agent, text, onText, running, onSend, onCancel, status, field }: ComposerProps) {
  const [mode, setMode] = useState<Mode>("queue");

  useLayoutEffect(() => {
    const at = field.current;
    if (!at) return;
    at.style.height = "auto";
    at.style.height = `${Math.min(at.scrollHeight + 2, maxHeightPx)}px`;
  }, [field, text]);

  const send = (event?: FormEvent) => {
    event?.preventDefault();
    if (text.trim() === "") return;
    if (!onSend(text, running ? mode : "queue")) return;
    onText("");
    setMode("queue");
    field.current?.focus();
  };

  const onKeyDown = (event: KeyboardEvent) => {
    // While a character is being composed, Enter chooses it.
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
            <select aria-label="When to send" value={mode} onChange={(event) => setMode(event.target.value as Mode)}>
              {Object.entries(choices).map(([choice, words]) => (
                <option key={choice} value={choice}>
                  {words}
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
        <label className="unseen" htmlFor="composer">
          Message to {agent}
        </label>
        <textarea
          ref={field}
          id="composer"
          rows={1}
          value={text}
          placeholder={`Message ${agent}`}
          enterKeyHint="send"
          onChange={(event) => onText(event.target.value)}
          onKeyDown={onKeyDown}
        />
        <Button type="submit" kind="main" disabled={text.trim() === ""}>
          <Icon name="send" /> Send
        </Button>
      </div>
    </form>
  );
}
