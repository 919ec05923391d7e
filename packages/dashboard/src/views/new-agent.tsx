import { type Agency, defaultBlueprint } from "@thinkery/sdk";
import { useState } from "react";
import { getContentsSource } from "../api/agencies.ts";
import { health } from "../api/health.ts";
import { call } from "../api/host.ts";
import { useSource } from "../api/source.ts";
import { announce } from "../frame/announce.tsx";
import { navigate, buildPath } from "../frame/navigation.ts";
import { Dialog } from "../parts/dialog.tsx";
import { Field } from "../parts/field.tsx";
import { Form } from "../parts/form.tsx";

export function NewAgent({ agency, onClose }: { agency: Agency; onClose(): void }) {
  const source = getContentsSource(agency.id);
  const blueprints = useSource(source).value?.blueprints ?? [];
  const models = useSource(health).value?.models?.configured;
  const [chosen, setChosen] = useState<string>(defaultBlueprint.name);
  const blueprint = blueprints.find((item) => item.name === chosen);

  const create = async (body: Record<string, string>) => {
    const agent = await call("createAgent", { params: { agency: agency.id }, body });
    await source.reload();
    onClose();
    navigate(buildPath(agency.id, agent.name));
    announce(`Agent ${agent.name} created.`);
  };

  return (
    <Dialog title={`New agent in ${agency.name}`} onClose={onClose}>
      <Form
        fields={["name", "blueprint", "model", "system"]}
        action="Create agent"
        onSubmit={create}
        onCancel={onClose}
      >
        {(errors) => (
          <>
            <Field
              label="Name"
              optional
              error={errors.name}
              hint="Letters, digits, and . _ - in between. Leave empty to generate one."
            >
              {(props) => (
                <input
                  {...props}
                  name="name"
                  autoComplete="off"
                  autoCapitalize="off"
                  spellCheck={false}
                  placeholder="alice"
                />
              )}
            </Field>
            <Field label="Blueprint" error={errors.blueprint} hint={blueprint?.description}>
              {(props) => (
                <select {...props} name="blueprint" value={chosen} onChange={(event) => setChosen(event.target.value)}>
                  {blueprints.length === 0 && <option>{chosen}</option>}
                  {blueprints.map((item) => (
                    <option key={item.name}>{item.name}</option>
                  ))}
                </select>
              )}
            </Field>
            <Field
              label="Model"
              optional
              error={errors.model}
              hint={`${blueprint?.model ? `Leave empty for ${blueprint.model}.` : "Leave empty for the host default."}${
                models?.length === 0 ? " No API key is set on this host yet." : ""
              }`}
            >
              {(props) => (
                <input
                  {...props}
                  name="model"
                  className="mono"
                  autoComplete="off"
                  autoCapitalize="off"
                  spellCheck={false}
                  placeholder="provider:model"
                />
              )}
            </Field>
            <Field
              label="System prompt"
              optional
              error={errors.system}
              hint="Instructions for this agent, in addition to those of its blueprint."
            >
              {(props) => <textarea {...props} name="system" rows={4} />}
            </Field>
          </>
        )}
      </Form>
    </Dialog>
  );
}
