import { useState } from "react";
import { call } from "../api/host.ts";
import { useStore } from "../api/store.ts";
import { announce } from "../frame/announce.tsx";
import { navigate } from "../frame/navigation.ts";
import { Confirm } from "../parts/confirm.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { Field } from "../parts/field.tsx";
import { Form } from "../parts/form.tsx";
import { describeAgentState } from "../team/describe-agent.ts";
import { useChannels } from "./channels-context.ts";

export function NewChannel({ onClose }: { onClose(): void }) {
  const { agency, team, to } = useChannels();
  const create = async ({ name = "", description }: Record<string, string>) => {
    const channel = await call("createChannel", {
      params: { agency },
      body: { name, ...(description === undefined ? {} : { description }) },
    });
    await team.channels.reload();
    onClose();
    navigate(to({ channel: channel.name }));
    announce(`Channel ${channel.name} created.`);
  };
  return (
    <Dialog title="New channel" onClose={onClose}>
      <Form fields={["name", "description"]} action="Create channel" onSubmit={create} onCancel={onClose}>
        {(errors) => (
          <>
            <Field label="Name" error={errors.name} hint="Letters, digits, and . _ - in between.">
              {(props) => (
                <input
                  {...props}
                  name="name"
                  autoFocus
                  autoComplete="off"
                  autoCapitalize="off"
                  spellCheck={false}
                  placeholder="design"
                />
              )}
            </Field>
            <Field
              label="Description"
              optional
              error={errors.description}
              hint="What belongs in it. Agents see it too."
            >
              {(props) => <input {...props} name="description" maxLength={500} autoComplete="off" />}
            </Field>
          </>
        )}
      </Form>
    </Dialog>
  );
}

export function NewDirectMessage({ onClose }: { onClose(): void }) {
  const { team, to } = useChannels();
  const { agents } = useStore(team.roster);
  const [agent, setAgent] = useState(agents[0]?.name ?? "");
  const open = async () => {
    onClose();
    navigate(to({ channel: `@${agent}` }));
  };
  return (
    <Dialog title="New direct message" onClose={onClose}>
      <Form fields={[]} action="Write" ready={agent !== ""} onSubmit={open} onCancel={onClose}>
        {() =>
          agents.length === 0 ? (
            <p className="dialog-text">There are no agents in this agency yet.</p>
          ) : (
            <Field label="To" hint="It gets every message that you write there, without a mention.">
              {(props) => (
                <select {...props} autoFocus value={agent} onChange={(event) => setAgent(event.target.value)}>
                  {agents.map((one) => (
                    <option key={one.name} value={one.name}>
                      {one.name} ({describeAgentState(one)})
                    </option>
                  ))}
                </select>
              )}
            </Field>
          )
        }
      </Form>
    </Dialog>
  );
}

export function DeleteChannel({ name, onClose }: { name: string; onClose(): void }) {
  const { agency, team, to } = useChannels();
  const remove = async () => {
    await call("deleteChannel", { params: { agency, channel: name } });
    onClose();
    navigate(to({}), "replace");
    announce(`Channel ${name} deleted.`);
    await team.channels.reload();
  };
  return (
    <Confirm title={`Delete ${name}?`} action="Delete channel" onConfirm={remove} onClose={onClose}>
      <p>This deletes the channel with all its messages. This cannot be undone.</p>
    </Confirm>
  );
}
