import { isFinished, type NewTeamTask, taskTypes, type TaskType, type TeamTask } from "@thinkery/sdk";
import { useState } from "react";
import { showControlChars } from "../chat/blocks.ts";
import { Dialog } from "../parts/dialog.tsx";
import { Field } from "../parts/field.tsx";
import { Form } from "../parts/form.tsx";

interface NewTeamTaskProps {
  tasks: readonly TeamTask[];
  /** The task that it is a part of, to begin with. */
  parentId: string | undefined;
  onCreate(task: NewTeamTask): Promise<void>;
  onClose(): void;
}

/** More tasks than these are not offered as what has to be done before. */
const maxOffered = 100;

export function NewTeamTaskDialog({ tasks, parentId: initialParent, onCreate, onClose }: NewTeamTaskProps) {
  const [parentId, setParentId] = useState(initialParent ?? "");
  const [dependencies, setDependencies] = useState<readonly string[]>([]);
  const open = tasks.filter(({ status }) => !isFinished(status));

  const create = ({ title = "", description, type }: Record<string, string>) =>
    onCreate({
      title,
      type: (type ?? "code") as TaskType,
      ...(description === undefined ? {} : { description }),
      ...(parentId === "" ? {} : { parentId }),
      ...(dependencies.length > 0 ? { dependencies: [...dependencies] } : {}),
    });

  return (
    <Dialog title="New task" onClose={onClose}>
      <Form
        fields={["title", "description", "type", "parentId", "dependencies"]}
        action="Create task"
        onSubmit={create}
        onCancel={onClose}
      >
        {(errors) => (
          <>
            <Field label="Title" error={errors.title}>
              {(props) => <input {...props} name="title" maxLength={200} autoFocus autoComplete="off" />}
            </Field>
            <Field label="Description" optional error={errors.description}>
              {(props) => <textarea {...props} name="description" rows={3} />}
            </Field>
            <Field label="Kind" error={errors.type}>
              {(props) => (
                <select {...props} name="type" defaultValue="code">
                  {taskTypes.map((type) => (
                    <option key={type}>{type}</option>
                  ))}
                </select>
              )}
            </Field>
            {open.length > 0 && (
              <Field label="Part of" optional error={errors.parentId}>
                {(props) => (
                  <select {...props} value={parentId} onChange={(event) => setParentId(event.target.value)}>
                    <option value="">No other task</option>
                    {open.map(({ id, title }) => (
                      <option key={id} value={id}>
                        {showControlChars(title)}
                      </option>
                    ))}
                  </select>
                )}
              </Field>
            )}
            {open.length > 0 && (
              <fieldset className="task-choices">
                <legend>
                  After <span className="faint">optional</span>
                </legend>
                {open.slice(0, maxOffered).map(({ id, title }) => (
                  <label key={id}>
                    <input
                      type="checkbox"
                      checked={dependencies.includes(id)}
                      onChange={({ target }) =>
                        setDependencies(
                          target.checked ? [...dependencies, id] : dependencies.filter((one) => one !== id),
                        )
                      }
                    />
                    {showControlChars(title)}
                  </label>
                ))}
                {errors.dependencies && <p className="field-error">{errors.dependencies}</p>}
              </fieldset>
            )}
          </>
        )}
      </Form>
    </Dialog>
  );
}
