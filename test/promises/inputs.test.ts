import fc from 'fast-check';
import { HttpResponse, http } from 'msw';
import { expect, test } from 'vitest';
import { SnippetError } from '../../src/client/index.ts';
import { SnippetClient } from '../../src/client/snippet-client.ts';
import { createRequest } from '../../src/client/snippet-request.ts';
import { encode } from '../../src/embed/layers.ts';
import { compose, replaceEmbeds } from '../../src/embed/replace-embeds.ts';
import { scan } from '../../src/embed/scan.ts';
import { isBlockLevel } from '../../src/markup/start-tags.ts';
import { answer, answerRequests, apiKey, client, network, renderBaseUrl } from '../support/http/network.ts';
import { runs } from '../support/tools/property.ts';

answerRequests();

test('an invalid id makes no request', async () => {
  const { asked } = answer({ render: [() => HttpResponse.json({ content: '' })] });
  const ours = client();
  const numbers = [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53];
  const others = [1n, null, undefined, true, {}, [42]];
  const texts = ' 0 -1 +1 -0 042 4e2 4.0 1_000 .. ../1 1/../2 %2e%2e １ 0x2a 9007199254740992'.split(' ');
  for (const id of [...numbers, ...others, ...texts, ' 42', '42\n']) {
    await expect(ours.get(id as never), String(id)).rejects.toMatchObject({ code: 'invalid-id' });
  }
  expect(asked).toEqual([]);
  await ours.close();
});

test('any id and params arrive at the service as they were passed', async () => {
  const received: unknown[] = [];
  network.use(
    http.get(`${renderBaseUrl}/snippets/:id/render`, ({ request, params }) => {
      const url = new URL(request.url);
      expect(url.searchParams.getAll('params').length).toBeLessThanOrEqual(1);
      received.push([params['id'], JSON.parse(url.searchParams.get('params') ?? '{}')]);
      return HttpResponse.json({ content: '' });
    }),
  );
  const ours = new SnippetClient({ apiKey, renderBaseUrl }, { limits: { urlLength: 1_000_000 } });
  const values = fc.jsonValue({ stringUnit: 'binary', maxDepth: 4 });
  const objects = fc.dictionary(fc.string({ unit: 'binary' }), values, { noNullPrototype: true });
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }), objects, async (id, params) => {
      received.length = 0;
      await ours.fetch(createRequest(id, params as never));
      // As JSON has them: without minus zero, and with keys in any order.
      expect(received).toEqual([[String(id), JSON.parse(JSON.stringify(params))]]);
    }),
    { numRuns: runs(100) },
  );
  await ours.close();
});

const pieces = fc.constantFrom(
  ...['<p>', '</p>', '<title>', '</title>', '<!--', '-->', '<script>', '</script>', '<svg>', '<textarea>'],
  ...['<snippet-embed', ' id="1"', " params='{}'", '>', '/>', '</snippet-embed>', '</textarea>', '"', "'"],
  ...['&lt;', '&', '\0', '\r\n', 'ü', '💡', '$&', '<', '<snippet-embed id="1"></snippet-embed>'],
);
const pages = fc
  .array(fc.oneof(pieces, fc.string(), fc.uint8Array({ maxLength: 4 })), { maxLength: 40 })
  .map((parts) => Buffer.concat(parts.map((part) => Buffer.from(part as string))));
const contents = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.constantFrom(
    ...['$&', '$1$`', '</script>', 'a\0b', '\r\n', '<snippet-embed id="2"></snippet-embed>', '-->', ''],
  ),
);

test('content is inlined byte for byte, and nothing outside its embed changes', () => {
  fc.assert(
    fc.property(pages, contents, (page, content) => {
      const { embeds } = scan(page, 'html');
      const pieces: Buffer[] = [];
      let read = 0;
      for (const { format, paragraph, children, ...embed } of embeds) {
        expect(embed.start).toBeGreaterThanOrEqual(read);
        expect(page.subarray(embed.start).toString()).toMatch(/^<snippet-embed/);
        expect(children.start).toBeGreaterThan(embed.start);
        expect(children.end).toBeGreaterThanOrEqual(children.start);
        expect(embed.end).toBeGreaterThanOrEqual(children.end);
        const { start, end } = (format.as === 'html' && isBlockLevel(content) && paragraph) || embed;
        pieces.push(page.subarray(read, start), Buffer.from(encode(content, format.layers)));
        read = end;
      }
      pieces.push(page.subarray(read));
      const inlined = replaceEmbeds(page, embeds, ({ format }) =>
        compose({ html: content, text: content }, format),
      );
      expect(inlined.equals(Buffer.concat(pieces))).toBe(true);
    }),
    { numRuns: runs(1_500) },
  );
});

test('any JSON from the service is a content or an error', async () => {
  let body: unknown;
  let status = 200;
  answer({ render: [() => HttpResponse.json(body as never, { status })] });
  await fc.assert(
    fc.asyncProperty(
      fc.oneof(
        fc.jsonValue(),
        fc.record(
          { content: fc.jsonValue(), id: fc.jsonValue(), title: fc.jsonValue(), status: fc.jsonValue() },
          { requiredKeys: [] },
        ),
      ),
      fc.constantFrom(200, 204, 400, 401, 404, 418, 500),
      async (json, code) => {
        body = json;
        status = code;
        const ours = client({ retrieveBaseUrl: undefined, limits: { attempts: 1 } });
        const got = await ours.get(1).catch((error: unknown) => error);
        await ours.close();
        if (got instanceof SnippetError) return;
        expect(status).toBe(200);
        expect(got).toMatchObject({ content: (json as { content: string }).content });
        expect(typeof (got as { content: unknown }).content).toBe('string');
      },
    ),
    { numRuns: runs(100) },
  );
});
