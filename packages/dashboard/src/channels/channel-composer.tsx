import { priorities, type Priority } from "@thinkery/sdk";
import { type FormEvent, type KeyboardEvent, useId, useLayoutEffect, useRef, useState } from "react";
import { useStore } from "../api/store.ts";
import { useDraft } from "../chat/draft.ts";
import { navigate } from "../frame/navigation.ts";
import { Button } from "../parts/button.tsx";
import { Icon } from "../parts/icon.tsx";
import { splitMentions } from "../team/mentions.ts";
import { useChannels } from "./channels-context.ts";
import { MentionMenu } from "./mention-menu.tsx";
import { postMessage } from "./post-message.ts";
import { useMentionMenu } from "./use-mention-menu.ts";

interface ChannelComposerProps {
  channel: string;
  /** The message that is answered. */
  thread?: string;
  /** Where the message goes, in words. */
  label: string;
  /** Whether the other member gets every message, without a mention. */
  isDirect: boolean;
}

const maxHeightPx = 240;

/** A field to write to a channel or a thread: with mentions, further recipients and a priority. */
export function ChannelComposer({ channel, thread, label, isDirect }: ChannelComposerProps) {
  const { user, agency, team, agents, names, to } = useChannels();
  const roster = useStore(team.roster).agents;
  const [text, setText] = useDraft({ user, agency, agent: `${channel}~${thread ?? ""}` });
  const [recipients, setRecipients] = useState<readonly string[]>([]);
  const [priority, setPriority] = useState<Priority>("normal");
  const [remark, setRemark] = useState<string>();
  const field = useRef<HTMLTextAreaElement>(null);
  const id = useId();
  const mentions = useMentionMenu({ field, text, names: [...agents], onText: setText });
  const mentioned = new Set(splitMentions(text, names).flatMap(({ name }) => (name === undefined ? [] : [name])));
  const others = recipients.filter((name) => !mentioned.has(name));
  const wakes = [...agents].filter((name) => mentioned.has(name) || others.includes(name));

  useLayoutEffect(() => {
    const element = field.current;
    if (!element) return;
    element.style.height = "auto";
    element.style.height = `${Math.min(element.scrollHeight + 2, maxHeightPx)}px`;
  }, [text]);

  const send = async (event?: FormEvent) => {
    event?.preventDefault();
    if (text.trim() === "") return;
    const input = {
      content: text,
      ...(others.length > 0 ? { to: [...others] } : {}),
      ...(priority === "normal" ? {} : { priority }),
    };
    setText("");
    setRecipients([]);
    setPriority("normal");
    setRemark(undefined);
    mentions.close();
    field.current?.focus();
    const posted = await postMessage(team, { channel, thread }, input);
    if (posted?.unknown?.length) setRemark(describeUnknown(posted.unknown));
    // The first direct message has created its channel.
    if (posted && posted.channel !== channel && thread === undefined)
      navigate(to({ channel: posted.channel }), "replace");
  };

  const onKeyDown = (event: KeyboardEvent) => {
    if (mentions.onKeyDown(event)) return;
    // During IME composition, Enter confirms the character.
    if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    void send();
  };

  return (
    <form className="channel-composer" onSubmit={(event) => void send(event)}>
      {remark !== undefined && (
        <p className="channel-remark" role="status">
          {remark}
        </p>
      )}
      <div className="composer-field">
        <label className="visually-hidden" htmlFor={id}>
          Message to {label}
        </label>
        <MentionMenu menu={mentions} id={`${id}-mentions`} agents={roster} />
        <textarea
          ref={field}
          id={id}
          rows={1}
          value={text}
          placeholder={thread === undefined ? `Message ${label}` : "Reply"}
          enterKeyHint="send"
          aria-autocomplete="list"
          aria-haspopup="listbox"
          aria-controls={mentions.isOpen ? `${id}-mentions` : undefined}
          aria-activedescendant={mentions.isOpen ? `${id}-mentions-${mentions.active}` : undefined}
          onChange={(event) => {
            setText(event.target.value);
            mentions.update();
          }}
          onSelect={mentions.update}
          onBlur={mentions.close}
          onKeyDown={onKeyDown}
        />
        <Button type="submit" kind="main" disabled={text.trim() === ""}>
          <Icon name="send" /> Send
        </Button>
      </div>
      <div className="channel-options">
        {others.map((name) => (
          <span key={name} className="chip">
            {name}
            <button
              type="button"
              aria-label={`Do not send to ${name}`}
              onClick={() => setRecipients(recipients.filter((one) => one !== name))}
            >
              <Icon name="close" />
            </button>
          </span>
        ))}
        {agents.size > 0 && !isDirect && (
          <select
            aria-label="Send to an agent without a mention"
            value=""
            onChange={(event) => setRecipients([...others, event.target.value])}
          >
            <option value="">To…</option>
            {[...agents]
              .filter((name) => !mentioned.has(name) && !others.includes(name))
              .map((name) => (
                <option key={name}>{name}</option>
              ))}
          </select>
        )}
        <select
          aria-label="Priority"
          value={priority}
          onChange={(event) => setPriority(event.target.value as Priority)}
        >
          {priorities.toReversed().map((value) => (
            <option key={value} value={value}>
              {value === "normal" ? "Normal priority" : value === "high" ? "High priority" : "Low priority"}
            </option>
          ))}
        </select>
        {text.trim() !== "" && !isDirect && (
          <p className="faint" aria-live="polite">
            {wakes.length > 0
              ? `${wakes.join(", ")} will handle it.`
              : "Nobody is mentioned, so no agent will handle it."}
          </p>
        )}
      </div>
    </form>
  );
}

function describeUnknown(unknown: readonly { name: string; suggestion?: string | undefined }[]): string {
  return unknown
    .map(({ name, suggestion }) =>
      suggestion === undefined
        ? `Nobody here is called @${name}.`
        : `Nobody here is called @${name}. Did you mean @${suggestion}?`,
    )
    .join(" ");
}
