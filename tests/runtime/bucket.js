// An R2 bucket in memory that speaks the protocol between workerd's own R2 binding and its service.
const objects = new Map();

export default {
  async fetch(request) {
    if (request.method === "PUT") {
      const bytes = new Uint8Array(await request.arrayBuffer());
      const size = Number(request.headers.get("cf-r2-metadata-size"));
      const command = JSON.parse(new TextDecoder().decode(bytes.subarray(0, size)));
      if (command.method === "delete") {
        for (const key of command.objects ?? [command.object]) objects.delete(key);
        return new Response();
      }
      objects.set(command.object, bytes.slice(size));
      return createResponse(createHead(command.object));
    }
    const command = JSON.parse(request.headers.get("cf-r2-request"));
    if (!objects.has(command.object)) {
      const error = { version: 1, v4code: 10007, message: "The specified key does not exist." };
      return new Response(null, { status: 404, headers: { "cf-r2-error": JSON.stringify(error) } });
    }
    return createResponse(
      createHead(command.object),
      command.method === "get" ? objects.get(command.object) : new Uint8Array(),
    );
  },
};

function createHead(name) {
  const size = objects.get(name).length;
  return {
    name,
    version: "1",
    etag: "e",
    size,
    uploaded: 0,
    httpFields: {},
    customFields: [],
    checksums: {},
    range: { offset: 0, length: size },
  };
}

function createResponse(head, content = new Uint8Array()) {
  const metadata = new TextEncoder().encode(JSON.stringify(head));
  return new Response(new Blob([metadata, content]), { headers: { "cf-r2-metadata-size": String(metadata.length) } });
}
