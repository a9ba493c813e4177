import { readFile } from 'node:fs/promises';
import { keyDetector } from '../client/api-key.ts';
import { elementName } from '../embed/element.ts';
import type { SiteFile, SiteFiles } from './site-files.ts';

export interface Findings {
  /** Files that hold the API key, as it is or encoded. */
  withKey: SiteFile[];
  /** Files that are no pages and hold an embed, which nothing will replace. */
  withEmbed: SiteFile[];
}

/** An embed in a feed, in JSON or in plain text: as it is, or as those formats escape its first character. */
const embedAnywhere = new RegExp(`(<|&lt;|&#0*60;|&#x0*3c;|\\\\u003c)${elementName}[\\s>"'\\\\/]`, 'i');

// A script may speak of the element without being a place where a snippet belongs: it could be the component
// of an island, or an editor's syntax file.
const code = /\.([cm]?js|css|map)$/i;

/** Reads the output once more, as it will be published, and says what must not be in it. */
export async function verifyOutput(
  { pages, texts }: SiteFiles,
  apiKey: string | undefined,
  signal: AbortSignal,
): Promise<Findings> {
  const findings: Findings = { withKey: [], withEmbed: [] };
  const holdsKey = apiKey === undefined ? () => false : keyDetector(apiKey);
  for (const file of apiKey === undefined ? [] : pages) {
    signal.throwIfAborted();
    if (holdsKey(await readFile(file.file))) findings.withKey.push(file);
  }
  for (const file of texts) {
    signal.throwIfAborted();
    const bytes = await readFile(file.file);
    if (holdsKey(bytes)) findings.withKey.push(file);
    if (code.test(file.name) || !bytes.includes(elementName)) continue;
    if (embedAnywhere.test(bytes.toString('latin1'))) findings.withEmbed.push(file);
  }
  return findings;
}
