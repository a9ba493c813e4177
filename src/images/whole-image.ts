/** Whether the bytes of an image are there to its end. What follows that does not matter: some cameras add to it. */
export type IsWhole = (bytes: Buffer) => boolean;

/** The last chunk, which is empty. */
export const isWholePng: IsWhole = (bytes) => bytes.includes('\0\0\0\0IEND', 0, 'latin1');

export const isWholeJpeg: IsWhole = (bytes) => {
  // Segments in front of the picture may contain a small one, with an end of its own.
  let at = 2;
  while (at + 4 <= bytes.length && bytes[at] === 0xff && bytes[at + 1] !== 0xda) {
    const isFill = bytes[at + 1] === 0xff;
    at += isFill ? 1 : 2 + bytes.readUInt16BE(at + 2);
  }
  return bytes.includes('\xff\xd9', at, 'latin1');
};

/** Some lack the byte behind their last picture. */
export const isWholeGif: IsWhole = (bytes) => {
  // Behind the header and the table of colors, each of a packed byte's size.
  const afterColors = (at: number, packed = 0) => at + (packed & 0x80 ? 3 * 2 ** ((packed & 7) + 1) : 0);
  let at = afterColors(13, bytes[10]);
  let hasPicture = false;
  for (let kind = bytes[at]; kind === 0x21 || kind === 0x2c; kind = bytes[at]) {
    at = kind === 0x21 ? at + 2 : afterColors(at + 10, bytes[at + 9]) + 1;
    for (let size = bytes[at]; size !== undefined && size > 0; size = bytes[at]) at += 1 + size;
    hasPicture ||= kind === 0x2c;
    at += 1;
  }
  return hasPicture && at <= bytes.length && (bytes[at] ?? 0x3b) === 0x3b;
};

export const isWholeWebp: IsWhole = (bytes) =>
  bytes.length >= 12 && bytes.readUInt32LE(4) + 8 <= bytes.length;

/** The boxes of the outermost level fit, up to the one with the picture. */
export const isWholeAvif: IsWhole = (bytes) => {
  for (let at = 0; at + 16 <= bytes.length; ) {
    const written = bytes.readUInt32BE(at);
    const size = written === 1 ? Number(bytes.readBigUInt64BE(at + 8)) : written || bytes.length - at;
    if (size < 8 || at + size > bytes.length) return false;
    if (bytes.toString('latin1', at + 4, at + 8) === 'mdat') return true;
    at += size;
  }
  return false;
};
