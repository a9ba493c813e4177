import { readFileSync } from 'node:fs';
import { keyDetector } from '../client/api-key.ts';
import { elementName } from '../embed/element.ts';
import { inTurns } from './in-turns.ts';
import type { SiteFile } from './scan-site.ts';

/** An embed in a feed, in JSON or in plain text: raw, or with its first character escaped as in those formats. */
const embedAnywhere = new RegExp(`(<|&lt;|&#0*60;|&#x0*3c;|\\\\u003c)${elementName}[\\s>"'\\\\/]`, 'i');

// A script may mention the element without being a place for a snippet: it could be the component of an island, or the
// syntax definition of an editor.
const code = /\.([cm]?js|css|map)$/i;

/** Checks every file of the output, as it is going to be published. */
export class OutputVerifier {
  readonly #containsKey: (bytes: Buffer) => boolean;
  /** Files that contain the API key in any spelling. */
  readonly withKey: SiteFile[] = [];
  /** Files that are not pages and contain an embed, which is not replaced. */
  readonly withEmbed: SiteFile[] = [];

  constructor(apiKey: string | undefined) {
    this.#containsKey = apiKey === undefined ? () => false : keyDetector(apiKey);
  }

  /** Checks a page that contains no embed any more. */
  checkPage(file: SiteFile, bytes: Buffer): void {
    if (this.#containsKey(bytes)) this.withKey.push(file);
  }

  /** Reads and checks files that are not pages. */
  async checkTexts(files: readonly SiteFile[]): Promise<void> {
    await inTurns(files, (file) => {
      const bytes = readFileSync(file.file);
      if (this.#containsKey(bytes)) this.withKey.push(file);
      if (code.test(file.name) || !bytes.includes(elementName)) return;
      if (embedAnywhere.test(bytes.toString('latin1'))) this.withEmbed.push(file);
    });
  }
}
