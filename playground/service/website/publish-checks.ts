import { elementsOf, type ParsedElement } from '../../../src/content/parse.ts';
import { describeOpen, findLeftOpen } from '../../../src/content/prepare-snippet.ts';
import { findScripts } from '../../../src/content/scripts.ts';
import { decodePath } from '../../../src/settings/site-urls.ts';
import type { SiteFacts } from '../publisher.ts';
import { renderTemplate, type TracedTemplate, traceTemplate, unknownNames } from '../template.ts';

/** Something in a draft that its editor should know before publishing. */
export interface Finding {
  /** The line of the draft, from 1; `undefined` if that is not known. */
  line: number | undefined;
  /** What is wrong: the end of a sentence that begins with the line. */
  flaw: string;
  /** What is `refused` is never published, and what `breaks` pages only after a confirmation. */
  severity: 'refused' | 'breaks' | 'note';
}

/** The params that a draft is checked with, and where they come from. */
export interface CheckedParams {
  source: 'pages' | 'sample';
  params: readonly Record<string, unknown>[];
}

/** A template that is checked with more params than this takes too long while one types. */
const maxParams = 10;

/**
 * Finds what is wrong with a draft: what would break pages that show it by the rules of the package, and names that
 * nothing is known by. In the order of its lines.
 */
export async function publishChecks(
  draft: string,
  { source, params }: CheckedParams,
  site?: SiteFacts,
): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const given of params.slice(0, maxParams)) {
    const { error, line } = await renderTemplate(draft, given);
    if (error !== undefined) {
      return [{ line, flaw: `has an error: ${error.replace(/^line \d+: /, '')}`, severity: 'refused' }];
    }
    for (const { kind, name, line } of await unknownNames(draft, given)) {
      const flaw = kind === 'filter' ? unknownFilter(name) : unsetVariable(name, source);
      findings.push({ line, flaw, severity: 'note' });
    }
    const traced = await traceTemplate(draft, given);
    findings.push(...(await openFindings(traced, site)), ...scriptFindings(traced, site));
    if (site) findings.push(...linkFindings(traced, site));
  }
  const distinct = new Map(findings.map((finding) => [`${finding.line} ${finding.flaw}`, finding]));
  return [...distinct.values()].sort((a, b) => (a.line ?? 0) - (b.line ?? 0));
}

const unknownFilter = (name: string) =>
  `uses the filter “${name}”, which does not exist: the value is shown as it is.`;

const unsetVariable = (name: string, source: CheckedParams['source']) =>
  source === 'pages'
    ? `shows “${name}”, for which a page passes no value: nothing stands there.`
    : `shows “${name}”, which has no sample value.`;

async function openFindings({ content, lineOf }: TracedTemplate, site?: SiteFacts): Promise<Finding[]> {
  const open = await findLeftOpen(content, { scripts: site?.scripts ?? 'allow' });
  if (open === undefined) return [];
  const start = startOf(open.what, content);
  const line = start === undefined ? undefined : lineOf(start);
  return [{ line, flaw: `${describeOpen(open)} ${howToClose(open.what)}`, severity: 'breaks' }];
}

/** Finds where the first of the things begins that a content leaves open. */
function startOf(what: string, content: string): number | undefined {
  if (what === 'a comment') return content.indexOf('<!--', content.lastIndexOf('-->'));
  const names = what.match(/\w+(?=>)/g);
  if (names === null) {
    // The tag that is not complete becomes an element if one of these completes it.
    const completed = ['>', '">', "'>"].flatMap((end) => elementsOf(content + end));
    return completed.map(rangeOf).find(({ endOffset }) => endOffset > content.length)?.startOffset;
  }
  const elements = elementsOf(content, { templates: true });
  const starts = names.flatMap((name) => {
    const left = elements.findLast(
      ({ tagName, sourceCodeLocation: at }) => tagName === name && at && !at.endTag,
    );
    return left ? rangeOf(left).startOffset : [];
  });
  return starts.length > 0 ? Math.min(...starts) : undefined;
}

/** Where the start tag of an element is. */
const rangeOf = ({ sourceCodeLocation: at }: ParsedElement) =>
  at?.startTag ?? at ?? { startOffset: 0, endOffset: 0 };

function howToClose(what: string): string {
  const names = what.match(/\w+(?=>)/g)?.reverse() ?? [];
  if (names.length > 0) return `Close it with ${names.map((name) => `</${name}>`).join('')}.`;
  return what === 'a comment' ? 'Close it with -->.' : 'Look for a missing > or quote.';
}

/** What a site does with scripts, and whether that has to be confirmed. */
const scriptRules: Record<SiteFacts['scripts'], [severity: Finding['severity'], consequence: string]> = {
  allow: ['note', 'which runs on every page that shows the snippet.'],
  warn: ['note', 'which runs on every page that shows the snippet.'],
  strip: ['note', 'which the site removes.'],
  error: ['breaks', 'which the site refuses: nothing that is published reaches it until this is removed.'],
};

function scriptFindings({ content, lineOf }: TracedTemplate, site?: SiteFacts): Finding[] {
  const [severity, consequence] = scriptRules[site?.scripts ?? 'allow'];
  return findScripts(content).map(({ what, start }) => ({
    line: lineOf(start),
    flaw: `contains ${what}, ${consequence}`,
    severity,
  }));
}

/** The attributes that lead to a page, or load an image. */
const linkAttributes: Record<string, string> = { a: 'href', area: 'href', img: 'src' };

function linkFindings({ content, lineOf }: TracedTemplate, { url, paths }: SiteFacts): Finding[] {
  const known = new Set(paths.map(barePath));
  return elementsOf(content).flatMap(({ tagName, attrs, sourceCodeLocation }): Finding[] => {
    const attribute = attrs.find(({ name }) => name === linkAttributes[tagName]);
    const target = attribute && URL.parse(attribute.value.trim(), url);
    // Other URLs are relative to the page, and a snippet is on many.
    const isOnSite = /^\s*[/\\]/.test(attribute?.value ?? '') || attribute?.value.includes('://');
    if (!attribute || !target || !isOnSite || target.origin !== new URL(url).origin) return [];
    if (known.has(barePath(target.pathname))) return [];
    const { startOffset = 0 } = sourceCodeLocation?.attrs?.[attribute.name] ?? {};
    const [verb, what] = tagName === 'img' ? ['shows', 'image'] : ['links to', 'page'];
    const flaw = `${verb} ${attribute.value}, but the site has no such ${what}.`;
    return [{ line: lineOf(startOffset), flaw, severity: 'note' }];
  });
}

/** A path without what may be left out of it. */
const barePath = (path: string) =>
  decodePath(path)
    .replace(/(?:index)?\.html$/, '')
    .replace(/\/+$/, '');
