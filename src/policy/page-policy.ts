import { escapeAttribute } from 'entities/escape';
import { Parser } from 'htmlparser2';
import { decodeAttribute } from '../embed/index.ts';
import { allowSources, type Sources } from './allow-sources.ts';

/** The element in a page that says its policy. */
export interface PolicyElement {
  start: number;
  end: number;
  /** The whole tag, as Latin-1. */
  tag: string;
}

/** Finds the `<meta http-equiv="content-security-policy">` of a page. A browser heeds those in the head alone. */
export function findPolicies(page: Buffer): PolicyElement[] {
  const end = page.indexOf('</head');
  const html = page.toString('latin1', 0, end === -1 ? page.length : end);
  const found: PolicyElement[] = [];
  const parser = new Parser(
    {
      onopentag(name, attributes) {
        if (name !== 'meta' || attributes['http-equiv']?.toLowerCase() !== 'content-security-policy') return;
        const { startIndex: start, endIndex } = parser;
        found.push({ start, end: endIndex + 1, tag: html.slice(start, endIndex + 1) });
      },
    },
    { decodeEntities: false },
  );
  parser.end(html);
  return found;
}

/** The same element, with a policy that allows these sources too. */
export function allowInTag(tag: string, sources: Sources): Buffer {
  let attributes: Record<string, string> = {};
  const parser = new Parser(
    {
      onopentag(_name, given) {
        attributes = given;
      },
    },
    { decodeEntities: false },
  );
  parser.end(tag);
  const policy = decodeAttribute(attributes['content'] ?? '');
  const allowed = allowSources(policy, sources);
  if (allowed === policy) return Buffer.from(tag, 'latin1');
  const written = Object.entries(attributes).map(
    ([name, value]) =>
      `${decodeAttribute(name)}="${escapeAttribute(name === 'content' ? allowed : decodeAttribute(value))}"`,
  );
  return Buffer.from(`<meta ${written.join(' ')}>`);
}
