import { type ReactNode, useState } from "react";
import { Dialog } from "./dialog.tsx";
import { Field } from "./field.tsx";
import { Form } from "./form.tsx";

interface ConfirmProps {
  title: string;
  action: string;
  /** Must be typed to confirm a particularly destructive action. */
  word?: string | undefined;
  children: ReactNode;
  onConfirm(): Promise<void>;
  onClose(): void;
}

export function Confirm({ title, action, word, children, onConfirm, onClose }: ConfirmProps) {
  const [typed, setTyped] = useState("");
  return (
    <Dialog title={title} onClose={onClose}>
      <Form fields={[]} action={action} danger ready={!word || typed === word} onSubmit={onConfirm} onCancel={onClose}>
        {() => (
          <>
            <div className="dialog-text">{children}</div>
            {word && (
              <Field label={`Type “${word}” to confirm`}>
                {(props) => (
                  <input
                    {...props}
                    value={typed}
                    onChange={(event) => setTyped(event.target.value)}
                    autoComplete="off"
                    autoCapitalize="off"
                    spellCheck={false}
                  />
                )}
              </Field>
            )}
          </>
        )}
      </Form>
    </Dialog>
  );
}
