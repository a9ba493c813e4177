import { createHash } from 'node:crypto';
import { excessOf, limits } from '../limits.ts';
import type { Publisher } from '../publisher.ts';
import { parseParams } from '../schemas.ts';
import type { NewSnippet, Snippet, Typed } from '../store/snippets.ts';
import { renderTemplate } from '../template.ts';
import { type CheckedParams, type Finding, publishChecks } from './publish-checks.ts';
import { sampleOf } from './sample-field.ts';

/** The form that the editor of a snippet sends. */
export interface SnippetForm extends Typed {
  /** The name of the button, such as `publish`. */
  action: string;
  /** The revision that was edited, empty if the form does not have it. */
  base: string;
  /** The revision of someone else's draft that this one replaces. */
  replaces: string;
}

/** Reads the form from the body of a request. */
export function formOf(body: Record<string, unknown>): SnippetForm {
  const text = (name: string) => (typeof body[name] === 'string' ? (body[name] as string) : '');
  return {
    name: text('name').trim() || 'Unnamed',
    // Forms send line breaks as CRLF.
    draft: text('draft').replaceAll('\r\n', '\n'),
    sample: sampleOf(body),
    action: text('action'),
    base: text('base'),
    replaces: text('replaces'),
  };
}

/** A hash of all editable fields, so that two people do not overwrite each other's text. */
export function revisionOf({ name, draft, sample }: Typed): string {
  return createHash('sha256')
    .update(JSON.stringify([name, draft, sample]))
    .digest('base64url')
    .slice(0, 16);
}

/** The error if a text is too long. No control of a form has a `maxlength`: a browser would cut what is pasted. */
export function tooLong({ name, draft = '', sample = '' }: NewSnippet): string | undefined {
  return (
    excessOf('The name has', name, limits.name) ??
    excessOf('The content has', draft, limits.content) ??
    excessOf('The sample params have', sample, limits.sample)
  );
}

/** How pages embed a snippet. */
interface SnippetEmbeds {
  /** The embed in `.astro` and `.mdx` files. */
  component: string;
  /** The embed in Markdown, HTML and any UI framework. */
  element: string;
}

function embedsOf(id: number, params: Record<string, unknown>): SnippetEmbeds {
  const json = JSON.stringify(params);
  const quoted = json.replaceAll('&', '&amp;').replaceAll("'", '&#39;').replaceAll('<', '&lt;');
  const [prop, attribute] = json === '{}' ? ['', ''] : [` params={${json}}`, ` params='${quoted}'`];
  return {
    component: `<Snippet id={${id}}${prop} />`,
    element: `<snippet-embed id="${id}"${attribute}></snippet-embed>`,
  };
}

/** A snippet as its editor sees it. */
export interface SnippetPreview {
  /** The content with the sample params, unless there is an error. */
  content: string | undefined;
  error: string | undefined;
  embeds: SnippetEmbeds;
  /** What is noteworthy about the params and the content as a whole. */
  note: string;
  /** What is wrong in lines of the draft. */
  findings: Finding[];
}

/** Renders the draft of a snippet with its sample params, and checks it with those of the site. */
export async function previewOf(snippet: Snippet, publisher: Publisher | undefined): Promise<SnippetPreview> {
  const { id, draft, sample } = snippet;
  const sampleParams = parseParams(sample);
  const params = sampleParams ?? {};
  const flaw = tooLong(snippet);
  const { content, error } = flaw === undefined ? await renderTemplate(draft, params) : { error: flaw };
  const ofPages =
    publisher
      ?.shown(id)
      ?.params.map(parseParams)
      .filter((given) => given !== undefined) ?? [];
  const checked: CheckedParams =
    ofPages.length > 0 ? { source: 'pages', params: ofPages } : { source: 'sample', params: [params] };
  const findings = flaw === undefined ? await publishChecks(draft, checked, publisher?.facts()) : [];
  const notes = [
    flaw,
    sampleParams === undefined && 'The sample params are not a JSON object. Pages do not use them.',
  ];
  return { content, error, embeds: embedsOf(id, params), note: notes.filter(Boolean).join(' '), findings };
}
