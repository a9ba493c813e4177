import { parse as parseCsv } from 'csv-parse/sync';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parse as parseYaml, stringify as toYaml } from 'yaml';
import { scan } from '../../src/embed/scan.ts';
import { fileKind } from '../../src/files/file-kind.ts';
import { runs } from '../support/tools/property.ts';

// Files of formats that this package does not know, as the site's own code writes them, with an embed in a value.

const embed = '<snippet-embed id="1"></snippet-embed>';

/** A format: how a file of it is written with a value, and read back by a parser where there is one here. */
interface OtherFormat {
  name: string;
  write(value: string): string;
  read?(file: string): unknown;
}

const quoted = (value: string) => `"${value.replace(/["\\]/g, '\\$&').replaceAll('\n', '\\n')}"`;
const csvCell = (value: string) => `"${value.replaceAll('"', '""')}"`;

/** Folds a line of iCalendar or vCard: it may have 75 bytes, and a space begins each further line. */
const folded = (line: string) =>
  Array.from({ length: Math.ceil(line.length / 74) }, (_, index) =>
    line.slice(index * 74, (index + 1) * 74),
  ).join('\r\n ');
const calendarText = (value: string) => value.replace(/[\\;,]/g, '\\$&').replaceAll('\n', '\\n');

const formats: readonly OtherFormat[] = [
  { name: 'data.yaml', write: (title) => toYaml({ title }), read: (file) => parseYaml(file).title },
  { name: 'data.yml', write: (title) => toYaml([{ title }]), read: (file) => parseYaml(file)[0].title },
  {
    name: 'items.csv',
    write: (value) => `id,title\n1,${csvCell(value)}\n`,
    read: (file) => parseCsv(file)[1]?.[1],
  },
  {
    name: 'items.tsv',
    write: (value) => `id\ttitle\n1\t${csvCell(value)}\n`,
    read: (file) => parseCsv(file, { delimiter: '\t' })[1]?.[1],
  },
  { name: 'site.toml', write: (value) => `title = ${quoted(value)}\n` },
  { name: 'site.ini', write: (value) => `[site]\ntitle = ${quoted(value)}\n` },
  { name: 'texts.properties', write: (value) => `title=${value.replace(/[\\\n]/g, '\\$&')}\n` },
  {
    name: 'events.ics',
    write: (value) => `BEGIN:VEVENT\r\n${folded(`DESCRIPTION:${calendarText(value)}`)}\r\nEND:VEVENT\r\n`,
  },
  {
    name: 'people.vcf',
    write: (value) => `BEGIN:VCARD\r\n${folded(`NOTE:${calendarText(value)}`)}\r\nEND:VCARD\r\n`,
  },
  { name: 'de.po', write: (value) => `msgid "title"\nmsgstr ${quoted(value)}\n` },
  { name: 'schema.graphql', write: (value) => `type Query {\n  ${quoted(value)}\n  title: String\n}\n` },
  { name: 'notes.rst', write: (value) => `Title\n=====\n\n${value}\n` },
  { name: 'LICENSES', write: (value) => `Title: ${value}\n` },
];

/** What may stand around the embed: characters that some format treats in a way of its own. */
const around = fc
  .array(fc.constantFrom(...'"\'&\\%#:,;\n =+?/a$`|][{}-'), { maxLength: 12 })
  .map((characters) => characters.join(''));

test.for(formats)(
  'an embed in a value of $name is refused, whatever is around it',
  ({ name, write, read }) => {
    const kind = fileKind(name);
    expect(kind).toBe('other');
    fc.assert(
      fc.property(around, around, (before, after) => {
        const value = `${before} ${embed} ${after}`;
        const file = write(value);
        // The embed is really there: whoever reads the file gets it.
        if (read) expect(read(file)).toBe(value);
        const { embeds, faults } = scan(Buffer.from(file), 'other');
        expect(embeds).toEqual([]);
        expect(faults.length).toBeGreaterThan(0);
      }),
      { numRuns: runs(200) },
    );
  },
);

test.for(formats)('a file like $name without an embed is left alone', ({ write }) => {
  fc.assert(
    fc.property(around, around, (before, after) => {
      const { embeds, faults } = scan(Buffer.from(write(`${before} snippet ${after}`)), 'other');
      expect([embeds, faults]).toEqual([[], []]);
    }),
    { numRuns: runs(50) },
  );
});
