/** The answer of an app that could not give one, told apart from answers of its own by a header. */
export function createErrorResponse(message: string): Response {
  return new Response(message, {
    status: 500,
    headers: { "content-type": "text/plain; charset=utf-8", "x-thinkery-app-error": "1" },
  });
}
