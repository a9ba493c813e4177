import { readFileSync } from 'node:fs';
import { keyDetector } from '../client/api-key.ts';
import { elementName } from '../embed/element.ts';
import { inTurns } from './in-turns.ts';
import type { SiteFile } from './site-files.ts';

/** An embed in a feed, in JSON or in plain text: as it is, or as those formats escape its first character. */
const embedAnywhere = new RegExp(`(<|&lt;|&#0*60;|&#x0*3c;|\\\\u003c)${elementName}[\\s>"'\\\\/]`, 'i');

// A script may speak of the element without being a place where a snippet belongs: it could be the component
// of an island, or an editor's syntax file.
const code = /\.([cm]?js|css|map)$/i;

/** Looks at every file of the output, as it will be published, and says what must not be in it. */
export class OutputVerifier {
  readonly #holdsKey: (bytes: Buffer) => boolean;
  /** Files that hold the API key, as it is or encoded. */
  readonly withKey: SiteFile[] = [];
  /** Files that are no pages and hold an embed, which nothing will replace. */
  readonly withEmbed: SiteFile[] = [];

  constructor(apiKey: string | undefined) {
    this.#holdsKey = apiKey === undefined ? () => false : keyDetector(apiKey);
  }

  /** Looks at a page in which no embed is left. */
  page(file: SiteFile, bytes: Buffer): void {
    if (this.#holdsKey(bytes)) this.withKey.push(file);
  }

  /** Reads and looks at files that are no pages. */
  async texts(files: readonly SiteFile[], signal: AbortSignal): Promise<void> {
    await inTurns(files, signal, (file) => {
      const bytes = readFileSync(file.file);
      if (this.#holdsKey(bytes)) this.withKey.push(file);
      if (code.test(file.name) || !bytes.includes(elementName)) return;
      if (embedAnywhere.test(bytes.toString('latin1'))) this.withEmbed.push(file);
    });
  }
}
