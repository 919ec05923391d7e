import { fail } from "@thinkery/sdk";
import { parseLoginCode } from "../api/login-code.ts";
import { logIn } from "../api/login.ts";
import { ThemeSwitch } from "../frame/theme-switch.tsx";
import { Field } from "../parts/field.tsx";
import { Form } from "../parts/form.tsx";
import { Logo } from "../parts/logo.tsx";
import { Notice } from "../parts/notice.tsx";

export function LoginView({ notice }: { notice?: { title: string; text: string } | undefined }) {
  const submit = async ({ code: text }: Record<string, string>) => {
    const code = parseLoginCode(text ?? "");
    if (!code) {
      throw fail("bad_request", "No login code found.", {
        issues: [{ path: ["code"], message: "Paste the full link, or the code after #code=." }],
      });
    }
    await logIn(code);
  };

  return (
    <main className="standalone">
      <title>Log in · Thinkery</title>
      <div className="standalone-corner">
        <ThemeSwitch />
      </div>
      <Logo size={56} />
      <h1>Thinkery</h1>
      <div role="status">
        {notice && (
          <Notice tone="warn" title={notice.title}>
            {notice.text}
          </Notice>
        )}
      </div>
      <p className="lead">Log in with a one-time link. In a terminal, run</p>
      <pre className="command">
        <code>thinkery open</code>
      </pre>
      <p className="lead">then open the link it prints. It works once and expires soon.</p>
      <div className="panel">
        <Form fields={["code"]} action="Log in" onSubmit={submit}>
          {(errors) => (
            <Field label="Or paste the link or code" error={errors.code}>
              {(props) => (
                <input
                  {...props}
                  name="code"
                  className="mono"
                  autoComplete="off"
                  autoCapitalize="off"
                  spellCheck={false}
                />
              )}
            </Field>
          )}
        </Form>
      </div>
    </main>
  );
}
