import { getAgenciesSource } from "../api/agencies.ts";
import { call } from "../api/host.ts";
import { announce } from "../frame/announce.tsx";
import { navigate, buildPath } from "../frame/navigation.ts";
import { Dialog } from "../parts/dialog.tsx";
import { Field } from "../parts/field.tsx";
import { Form } from "../parts/form.tsx";

export function NewAgency({ user, onClose }: { user: string; onClose(): void }) {
  const create = async (body: Record<string, string>) => {
    const agency = await call("createAgency", { body });
    await getAgenciesSource(user).reload();
    onClose();
    navigate(buildPath(agency.id));
    announce(`Agency ${agency.name} created.`);
  };

  return (
    <Dialog title="New agency" onClose={onClose}>
      <p className="dialog-text">An agency groups the agents of a project or team, isolated from other agencies.</p>
      <Form fields={["id", "name"]} action="Create agency" onSubmit={create} onCancel={onClose}>
        {(errors) => (
          <>
            <Field label="Name" optional error={errors.name} hint="Display name">
              {(props) => <input {...props} name="name" autoComplete="off" />}
            </Field>
            <Field
              label="ID"
              optional
              error={errors.id}
              hint="Used in URLs and commands: letters, digits, and . _ - in between. Leave empty to generate one."
            >
              {(props) => (
                <input
                  {...props}
                  name="id"
                  className="mono"
                  autoComplete="off"
                  autoCapitalize="off"
                  spellCheck={false}
                />
              )}
            </Field>
          </>
        )}
      </Form>
    </Dialog>
  );
}
