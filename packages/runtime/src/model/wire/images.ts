import { Buffer } from "node:buffer";

interface Image {
  mediaType: string;
  data: Uint8Array;
}

export const toBase64 = ({ data }: Image): string =>
  Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString("base64");

export const toDataUrl = (image: Image): string => `data:${image.mediaType};base64,${toBase64(image)}`;
