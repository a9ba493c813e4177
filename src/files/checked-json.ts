import { crc32 } from 'node:zlib';

/**
 * Serializes a document for a file of ours that later runs believe. Its first property is a checksum of all bytes
 * that follow: damage can leave valid JSON with other values, which no check of types would notice.
 *
 * @param document an object with at least one property
 */
export function toCheckedJson(document: object): Buffer {
  const rest = Buffer.from(JSON.stringify(document)).subarray(1);
  return Buffer.concat([Buffer.from(`{"checksum":${crc32(rest)},`), rest]);
}

/** A document from a file, and whether it can be believed. */
export interface CheckedJson<Document> {
  document: Document;
  /** Whether the document is what {@link toCheckedJson} got. The version of another format can be read anyway. */
  isWhole: boolean;
}

/** Parses and checks a document. @throws SyntaxError if the bytes are not JSON */
export function parseCheckedJson<Document>(bytes: Buffer): CheckedJson<Document> {
  const [start = '', checksum] = /^\{"checksum":(\d+),/.exec(bytes.toString('latin1', 0, 32)) ?? [];
  const isWhole = checksum === `${crc32(bytes.subarray(start.length))}`;
  return { document: JSON.parse(bytes.toString()), isWhole };
}
