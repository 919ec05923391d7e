import type { Question } from "@thinkery/sdk";
import { type FormEvent, useMemo, useRef, useState } from "react";
import { call } from "../../api/host.ts";
import type { AgentPlace } from "../../api/inbox.ts";
import { getErrorMessage, useHasScope } from "../../api/login.ts";
import { FormattedText } from "../../chat/formatted-text.tsx";
import { announce } from "../../frame/announce.tsx";
import { Button } from "../../parts/button.tsx";
import { Notice } from "../../parts/notice.tsx";
import { explainLateAnswer, type ItemChange } from "../use-answer.ts";
import { type AnswerDraft, type AnswerIssues, createDraft, readDraft } from "./answer-draft.ts";
import { parseAnswerIssues } from "./answer-errors.ts";
import { AnswerFieldView } from "./answer-field.tsx";
import { listPaths, parseSchema } from "./parse-schema.ts";

interface QuestionFormProps extends AgentPlace {
  question: Pick<Question, "id" | "prompt" | "schema">;
  /** Called when it was answered, here or elsewhere. */
  onChange?(change: ItemChange): void;
}

/** A question of an agent with a form for its answer, drawn from its schema. A wrong answer keeps what was entered. */
export function QuestionForm({ agency, agent, question: { id, prompt, schema }, onChange }: QuestionFormProps) {
  const canAnswer = useHasScope("chat", agency);
  const control = useMemo(() => (schema ? parseSchema(schema) : ({ kind: "text", long: true } as const)), [schema]);
  const [draft, setDraft] = useState<AnswerDraft>(() => createDraft(control, schema?.default));
  const [issues, setIssues] = useState<AnswerIssues>({});
  const [failure, setFailure] = useState<string>();
  const [busy, setBusy] = useState(false);
  const form = useRef<HTMLFormElement>(null);

  const showIssues = (next: AnswerIssues) => {
    setIssues(next);
    // The fields have their state after the next render.
    requestAnimationFrame(() =>
      form.current?.querySelector<HTMLElement>("[aria-invalid], [data-invalid] input")?.focus(),
    );
  };

  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const result = readDraft(control, draft);
    setFailure(undefined);
    if ("issues" in result) return showIssues(result.issues);
    setBusy(true);
    setIssues({});
    try {
      await call("answerQuestion", { params: { agency, agent }, body: { continuationId: id, value: result.value } });
      announce("Answer sent.");
      onChange?.({});
    } catch (error) {
      const paths = listPaths(control);
      const parsed = parseAnswerIssues(getErrorMessage(error), (path) => paths.has(path));
      if (parsed) return showIssues(parsed);
      const late = explainLateAnswer(error);
      setFailure(late ?? getErrorMessage(error));
      if (late !== undefined) onChange?.({ failure: late });
    } finally {
      setBusy(false);
    }
  };

  return (
    <div className="question" data-question={id}>
      {prompt !== undefined && <FormattedText text={prompt} />}
      {canAnswer ? (
        <form ref={form} className="form" onSubmit={(event) => void submit(event)} noValidate>
          <AnswerFieldView
            control={control}
            label="Your answer"
            path=""
            draft={draft}
            issues={issues}
            onChange={setDraft}
          />
          <div role="alert">{failure && <Notice tone="bad">{failure}</Notice>}</div>
          <div className="form-actions">
            <Button type="submit" kind="main" busy={busy}>
              Answer
            </Button>
          </div>
        </form>
      ) : (
        <p className="faint">You have read-only access and cannot answer.</p>
      )}
    </div>
  );
}
