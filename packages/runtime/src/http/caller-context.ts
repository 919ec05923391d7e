const maxValueChars = 300;

/** What a request tells about where it came from. Short, and never a credential: a referrer goes without its query. */
export function readCallerContext(request: Request): Record<string, string> {
  const said = {
    userAgent: request.headers.get("user-agent"),
    origin: request.headers.get("origin"),
    referrer: stripQuery(request.headers.get("referer")),
  };
  const context: Record<string, string> = {};
  for (const [key, value] of Object.entries(said)) if (value) context[key] = value.slice(0, maxValueChars);
  return context;
}

function stripQuery(referrer: string | null): string | undefined {
  if (!referrer || !URL.canParse(referrer)) return undefined;
  const { protocol, host, pathname } = new URL(referrer);
  return `${protocol}//${host}${pathname}`;
}
