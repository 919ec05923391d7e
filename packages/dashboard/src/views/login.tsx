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
      throw fail("bad_request", "There is no login code in this text.", {
        problems: [{ path: ["code"], message: "Paste the whole link, or the code behind #code= in it." }],
      });
    }
    await logIn(code);
  };

  return (
    <main className="alone">
      <title>Log in · Thinkery</title>
      <div className="alone-corner">
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
      <p className="lead">To come in, ask your host for a link. In a terminal, run</p>
      <pre className="command">
        <code>thinkery open</code>
      </pre>
      <p className="lead">and follow the link it prints. It works once, and only for a short time.</p>
      <div className="panel">
        <Form fields={["code"]} action="Log in" onSubmit={submit}>
          {(problems) => (
            <Field label="Or paste the link or its code here" problem={problems.code}>
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
