import { expect, test } from 'vitest';
import { EmbedStore } from '../../src/build/embed-store.ts';
import { createRequest } from '../../src/client/snippet-request.ts';
import type { Form } from '../../src/embed/found.ts';
import type { FileEmbed } from '../../src/snippets/file-embeds.ts';

const forms: readonly Form[] = [
  { as: 'html', layers: [] },
  { as: 'text', layers: ['html-text'] },
  { as: 'html', layers: [], around: 'svg' },
  { as: 'html', layers: [], paragraph: { before: '<p>', after: '</p>' } },
];
const requests = [createRequest(1), createRequest(2, { locale: 'de' })];

/** One embed for each number, each another combination of what an embed may have. */
function embedOf(number: number): FileEmbed {
  const has = (bit: number) => (number & (1 << bit)) !== 0;
  const at = number * 100;
  const embed: FileEmbed = {
    start: at,
    end: at + 90,
    children: { start: 0, end: 0, isBlockLevel: false },
    form: forms[number % forms.length] ?? { as: 'html', layers: [] },
    inHeading: has(2),
    inParagraph: has(3),
    request: requests[number % requests.length] ?? createRequest(1),
  };
  if (has(4)) embed.children = { start: at + 20, end: at + 30, isBlockLevel: has(5) };
  if (has(4) && has(6)) embed.children.text = `children ${number % 7}`;
  if (has(7)) embed.paragraph = { start: at - 3, end: at + 94 };
  if (has(8)) embed.written = `2 ${number % 5}`;
  if (has(9)) embed.isOptional = true;
  return embed;
}

test('embeds are kept with everything that they may have, file by file', () => {
  const store = new EmbedStore();
  const files = Array.from({ length: 64 }, (_, file) =>
    Array.from({ length: 16 + (file % 3) }, (_, index) => embedOf(file * 16 + index)),
  );
  const stored = files.map((embeds) => store.add(embeds));
  expect(stored.map((one) => store.read(one))).toEqual(files);
});
