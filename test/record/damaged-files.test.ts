import { existsSync } from 'node:fs';
import { readdir, readFile, utimes, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { toCheckedJson } from '../../src/files/checked-json.ts';
import { copyOfEverything, type Everything } from '../support/site/everything.ts';
import { folderWith } from '../support/site/folder.ts';
import { changeRecord, readRecord } from '../support/site/records.ts';
import { cli } from '../support/tools/cli.ts';
import { runs } from '../support/tools/property.ts';

type Damage = (bytes: Buffer) => Buffer;

const zeroed =
  (at: number, length: number): Damage =>
  (bytes) => {
    const damaged = Buffer.from(bytes);
    const start = Math.floor(at * bytes.length);
    damaged.subarray(start, start + length).fill(0);
    return damaged;
  };

/** Bytes of a document in which one value, at any depth, is of another type. */
function withOtherValue(bytes: Buffer, at: number, value: unknown): Buffer {
  const document = JSON.parse(bytes.toString());
  const places: [object: Record<string, unknown>, key: string][] = [];
  const visit = (object: Record<string, unknown>) => {
    for (const [key, inner] of Object.entries(object)) {
      places.push([object, key]);
      if (typeof inner === 'object' && inner !== null) visit(inner as Record<string, unknown>);
    }
  };
  visit(document);
  const [object, key] = places[Math.floor(at * places.length)] ?? [document, 'more'];
  object[key] = value;
  return Buffer.from(JSON.stringify(document));
}

const place = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
const otherDocuments = [
  '',
  '{}',
  'null',
  '[]',
  '0',
  '"text"',
  '{"version":1}',
  '{"files":null}',
  '\0'.repeat(20),
];

/** Damage that leaves bytes, and damage of JSON. Each changes something. */
const anyDamage: fc.Arbitrary<Damage> = fc.oneof(
  place.map(
    (at): Damage =>
      (bytes) =>
        bytes.subarray(0, Math.floor(at * bytes.length)),
  ),
  place.map((at) => zeroed(at, 20)),
  fc.tuple(place, fc.integer({ min: 1, max: 255 })).map(
    ([at, mask]): Damage =>
      (bytes) => {
        const damaged = Buffer.from(bytes);
        const offset = Math.floor(at * bytes.length);
        damaged.writeUInt8((bytes[offset] ?? 0) ^ mask, offset);
        return damaged;
      },
  ),
  fc.constantFrom(...otherDocuments).map(
    (text): Damage =>
      () =>
        Buffer.from(text),
  ),
);
const damageOfJson: fc.Arbitrary<Damage> = fc.oneof(
  anyDamage,
  fc.tuple(place, fc.constantFrom(null, -1, 'text', [], {}, [null], true)).map(
    ([at, value]): Damage =>
      (bytes) =>
        withOtherValue(bytes, at, value),
  ),
);

/** Sentences of JavaScript, and codes of the file system without a sentence around them. */
const raw =
  /Cannot (read|destructure|convert)|is not (iterable|a function|defined|an? )|Unexpected|in JSON|must be of type|\[unexpected\]|^E[A-Z]+:/m;

const recordFolder = (site: Everything) => join(site.directory, 'node_modules/.astro/astro-snippets');
const packOf = async (site: Everything) =>
  join(recordFolder(site), (await readdir(recordFolder(site))).find((name) => name.endsWith('.pack')) ?? '');

test('a record with any damage makes each command exit with 3, and nothing is written', async () => {
  const site = await copyOfEverything();
  site.service.put(1, 'the woozle');
  const whole = await readFile(site.record);
  const before = await site.contents('dist');
  const command = fc.constantFrom('list', 'check', 'refresh', 'report', 'watch', 'refresh --after=true');
  const isSame = (bytes: Buffer) => bytes.equals(whole);
  await fc.assert(
    fc.asyncProperty(damageOfJson, command, async (damage, line) => {
      const damaged = damage(whole);
      fc.pre(!isSame(damaged));
      await writeFile(site.record, damaged);
      const { exitCode, output } = await site.run(...line.split(' '));
      expect(exitCode, output).toBe(3);
      expect(output).toMatch(
        /manifest\.json (is damaged|was written by another version of astro-snippets)\. \[missing-manifest\]/,
      );
      expect(output).not.toMatch(raw);
    }),
    { numRuns: runs(20) },
  );
  expect(await site.contents('dist')).toEqual(before);
  await writeFile(site.record, whole);
  expect(await site.run('refresh')).toMatchObject({ exitCode: 0 });
});

test('a pack with any damage is noticed before a page is written', async () => {
  const site = await copyOfEverything();
  const pack = await packOf(site);
  const whole = await readFile(pack);
  site.service.put(1, 'the woozle');
  site.service.put(2, 'about it');
  const before = await site.contents('dist');
  const pages = (await readRecord(site.record)).files as [string, string, number[], number, number][];
  // Of the bytes between pages, none is read.
  const isRead = (damaged: Buffer) =>
    pages.some(([, , , offset, length]) => {
      const end = offset + 4 + length;
      return !damaged.subarray(offset, end).equals(whole.subarray(offset, end));
    });
  await fc.assert(
    fc.asyncProperty(anyDamage, fc.constantFrom('refresh', 'refresh --dry-run'), async (damage, line) => {
      const damaged = damage(whole);
      fc.pre(isRead(damaged));
      await writeFile(pack, damaged);
      const { exitCode, output } = await site.run(...line.split(' '));
      expect(output).not.toMatch(raw);
      // A page that a refresh does not make may be damaged. Only what is written has to be whole.
      expect([0, 3], output).toContain(exitCode);
      if (exitCode === 3) expect(output).toMatch(/as (it|they) (was|were) generated .*(damaged|cut off)/);
      if (exitCode === 3) expect(await site.contents('dist')).toEqual(before);
    }),
    { numRuns: runs(15) },
  );
});

test('20 zeroed bytes of a page are not published', async () => {
  const site = await copyOfEverything();
  const pack = await packOf(site);
  const { files } = await readRecord(site.record);
  const [, , , offset] = files.find(([name]: [string]) => name === 'about.html');
  const bytes = await readFile(pack);
  await writeFile(pack, bytes.fill(0, offset + 40, offset + 60));
  site.service.put(2, 'about it');
  const before = await site.contents('dist');
  const { exitCode, output } = await site.run('refresh');
  expect(output).toContain(
    'about.html as it was generated is damaged, or cannot be read. [missing-manifest]',
  );
  expect(exitCode).toBe(3);
  expect(await site.contents('dist')).toEqual(before);
});

test('if the file with what was deployed has any damage, nothing counts as deployed', async () => {
  const site = await copyOfEverything();
  const file = join(recordFolder(site), 'deployed.json');
  expect(await site.run('check', '--exec', 'exit 0')).toMatchObject({ exitCode: 0 });
  const whole = await readFile(file);
  await fc.assert(
    fc.asyncProperty(damageOfJson, async (damage) => {
      const damaged = damage(whole);
      fc.pre(!damaged.equals(whole));
      await writeFile(file, damaged);
      const plain = await site.run('check');
      expect(plain).toMatchObject({ exitCode: 0 });
      expect(plain.output).not.toMatch(raw);
      const { exitCode, output } = await site.run('check', '--exec', 'exit 42');
      expect(exitCode, output).toBe(42);
      expect(output).not.toMatch(raw);
    }),
    { numRuns: runs(10) },
  );
});

describe('of a folder that was inlined before,', () => {
  const page = (text: string) => `<p>${text} <snippet-embed id="1"></snippet-embed></p>`;

  async function inlinedFolder() {
    const site = await copyOfEverything();
    const folder = await folderWith({ 'public/a.html': page('a'), 'public/b.html': page('b') });
    const run = (...argv: string[]) => cli(folder.directory, argv, site.service.environment);
    const inlined = await run('inline', 'public', '--stale-if-error', '1d');
    expect(inlined.exitCode, inlined.output).toBe(0);
    const cache = join(folder.directory, '.cache/astro-snippets');
    return { ...folder, service: site.service, run, cache };
  }

  test('any damage of any file that inline left does not end in a sentence of JavaScript, nor in wrong content', async () => {
    const { directory, cache, service, run, read } = await inlinedFolder();
    const names = (await readdir(cache, { recursive: true, withFileTypes: true }))
      .filter((entry) => entry.isFile() && entry.name !== '.gitignore')
      .map(({ parentPath, name }) => join(parentPath, name));
    names.push(join(cache, 'manifest.public.lock'), join(cache, 'manifest.public.json.unfinished'));
    const contents = new Map<string, Buffer>();
    for (const name of names.filter(existsSync)) contents.set(name, await readFile(name));
    const record = contents.get(join(cache, 'manifest.public.json')) ?? Buffer.alloc(0);
    const commands = [
      'inline public',
      'check',
      'refresh',
      'list',
      'report',
      'inline public --offline --stale-if-error=1d',
    ];

    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...names),
        damageOfJson,
        fc.constantFrom(...commands),
        async (name, damage, line) => {
          for (const [file, whole] of contents) await writeFile(file, whole);
          const whole = contents.get(name) ?? record;
          let damaged: Buffer;
          try {
            damaged = damage(whole);
          } catch {
            // The damage is one of JSON, and this is another file.
            damaged = zeroed(0.5, 20)(whole);
          }
          await writeFile(name, damaged);
          // The process of a lock that cannot be read has been silent for long.
          await utimes(name, new Date(0), new Date(0));
          const { exitCode, output } = await run(...line.split(' '));
          expect([0, 1, 3, 10], output).toContain(exitCode);
          expect(output, `${basename(name)}: ${line}`).not.toMatch(raw);
          for (const file of ['a', 'b']) {
            expect(await read(`public/${file}.html`)).toBe(`<p>${file} the heffalump</p>`);
          }
        },
      ),
      { numRuns: runs(20) },
    );
    expect(service.requests().length).toBeGreaterThan(0);
    expect(existsSync(join(directory, 'public/a.html'))).toBe(true);
  });

  test('a page whose generated version is damaged stays as it is, and is named', async () => {
    const { cache, service, run, read } = await inlinedFolder();
    const name = (await readdir(cache)).find((file) => file.endsWith('.pack')) ?? '';
    const pack = await readFile(join(cache, name));
    await writeFile(join(cache, name), pack.fill(0, 8, 20));
    service.put(1, 'the woozle');
    const { exitCode, output } = await run('inline', 'public');
    expect(exitCode, output).toBe(0);
    expect(output).toContain('As they were generated, these files are damaged: a.html.');
    expect(await read('public/a.html')).toBe('<p>a the heffalump</p>');
    expect(await read('public/b.html')).toBe('<p>b the woozle</p>');
  });
});

test('a record whose checksum is right is read, whatever its text', async () => {
  const site = await copyOfEverything();
  await changeRecord(site.record, (record) => ({ ...record, laterIntegrations: ['ünï\u2028"\\'] }));
  expect(await site.run('check')).toMatchObject({ exitCode: 0 });
  expect(toCheckedJson({ a: 1 }).toString()).toMatch(/^\{"checksum":\d+,"a":1\}$/);
});
