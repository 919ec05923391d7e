// What gzip and its kin in the shell need of node:zlib, where there is no Node.
import { gunzipSync as gunzip, gzipSync as gzip } from "fflate";

export const constants = { Z_BEST_COMPRESSION: 9, Z_BEST_SPEED: 1, Z_DEFAULT_COMPRESSION: 6 };

export function gzipSync(data, { level = 6 } = {}) {
  return gzip(new Uint8Array(data), { level: level < 0 ? 6 : level, mtime: 0 });
}

export function gunzipSync(data, { maxOutputLength = Infinity } = {}) {
  const bytes = new Uint8Array(data);
  // A packed file ends with its size; one that says less than it has is not unpacked any further.
  const size = bytes.length < 18 ? 0 : new DataView(bytes.buffer, bytes.byteOffset).getUint32(bytes.length - 4, true);
  if (size > maxOutputLength)
    throw Object.assign(new RangeError(`Cannot create a Buffer larger than ${maxOutputLength} bytes`), {
      code: "ERR_BUFFER_TOO_LARGE",
    });
  return gunzip(bytes);
}
