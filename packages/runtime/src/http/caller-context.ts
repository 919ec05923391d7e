const maxValueChars = 300;

/** Reads where a request came from. Short, and never contains a credential: the referrer's query is dropped. */
export function readCallerContext(request: Request): Record<string, string> {
  const values = {
    userAgent: request.headers.get("user-agent"),
    origin: request.headers.get("origin"),
    referrer: stripQuery(request.headers.get("referer")),
  };
  const context: Record<string, string> = {};
  for (const [key, value] of Object.entries(values)) if (value) context[key] = value.slice(0, maxValueChars);
  return context;
}

function stripQuery(referrer: string | null): string | undefined {
  if (!referrer || !URL.canParse(referrer)) return undefined;
  const { protocol, host, pathname } = new URL(referrer);
  return `${protocol}//${host}${pathname}`;
}
