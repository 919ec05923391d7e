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
    announce(`Agency ${agency.name} was created.`);
  };

  return (
    <Dialog title="New agency" onClose={onClose}>
      <p className="dialog-text">An agency keeps the agents of one project or team together, apart from all others.</p>
      <Form fields={["id", "name"]} action="Create agency" onSubmit={create} onCancel={onClose}>
        {(problems) => (
          <>
            <Field label="Name" optional problem={problems.name} hint="What people call it.">
              {(props) => <input {...props} name="name" autoComplete="off" />}
            </Field>
            <Field
              label="Id"
              optional
              problem={problems.id}
              hint="Goes into addresses and commands: letters, digits and . _ - between them. Left empty, the host chooses one."
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
