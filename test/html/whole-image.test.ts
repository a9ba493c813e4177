import { expect, test } from 'vitest';
import { refuseCut } from '../../src/images/image-file.ts';
import { images } from '../support/images.ts';

const names = Object.keys(images) as (keyof typeof images)[];

test.for(names)('an image is whole with all of its bytes, and with more behind them: %s', (name) => {
  for (const more of ['', '\0', '\r\n', '<?xpacket end="w"?>', '\xff'.repeat(5_000)]) {
    expect(() => refuseCut(Buffer.concat([images[name], Buffer.from(more, 'latin1')]))).not.toThrow();
  }
});

test.for(names)('an image without its end is cut off: %s', (name) => {
  const whole = images[name];
  const start = 16;
  // The last bytes of a PNG are a checksum, and the last of a GIF says that nothing follows: no browser needs them.
  const end = whole.length - ({ png: 5, gif: 2 }[name as string] ?? 1);
  for (let length = start; length <= end; length += 1) {
    expect(() => refuseCut(whole.subarray(0, length)), `${length} bytes`).toThrow('it was cut off');
  }
});

test('what is no image is not cut off', () => {
  for (const text of ['', '<!doctype html>', 'GIF']) expect(() => refuseCut(Buffer.from(text))).not.toThrow();
});

test('a GIF without its last byte, as some programs write it, is whole', () => {
  expect(() => refuseCut(images.gif.subarray(0, -1))).not.toThrow();
});
