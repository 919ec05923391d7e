import { Buffer } from "node:buffer";

interface Image {
  mediaType: string;
  data: Uint8Array;
}

export const base64 = ({ data }: Image): string => Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString("base64");

export const dataUrl = (image: Image): string => `data:${image.mediaType};base64,${base64(image)}`;
