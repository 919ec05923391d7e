/** The response for an app that failed. A header distinguishes it from the app's own responses. */
export function createErrorResponse(message: string): Response {
  return new Response(message, {
    status: 500,
    headers: { "content-type": "text/plain; charset=utf-8", "x-thinkery-app-error": "1" },
  });
}
