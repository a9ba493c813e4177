import { existsSync } from 'node:fs';
import { embedNamePattern } from '../embed/element.ts';
import { listPlaces } from '../failures/places.ts';
import type { UnscannedFile } from '../output/site-files.ts';
import type { ParseCode } from '../source/site-source.ts';

/** A place that has a script. */
interface ScriptPlace {
  /** The file, or the file and the line of an inline script. */
  place: string;
  /** The path of a script that is a file of its own. */
  file?: string | undefined;
}

/**
 * Collects the scripts and style sheets that hold an embed, or a script that may create one. No snippet is inlined
 * in these, so each is a warning, unless a later step of the build removes the file.
 */
export class EmbedsInCode {
  readonly #filesWithEmbed: UnscannedFile[] = [];
  /** The places of scripts that mention the element, by their code: a script may be on many pages. */
  readonly #scripts = new Map<string, ScriptPlace[]>();

  /** Adds a script or a style sheet of the output, if it holds an embed or mentions the element. */
  addFile(file: UnscannedFile, bytes: Buffer): void {
    const code = bytes.toString('latin1');
    if (!embedNamePattern.test(code)) return;
    if (embedInCode.test(code)) this.#filesWithEmbed.push(file);
    else if (isScript.test(file.name)) this.addScript({ place: file.name, file: file.file }, code);
  }

  /** Adds a script that mentions the element. */
  addScript(place: ScriptPlace, code: string): void {
    const places = this.#scripts.get(code);
    if (places) places.push(place);
    else this.#scripts.set(code, [place]);
  }

  /** @param parse parses JavaScript; `undefined` where the site has no parser for it */
  async warnings(parse?: ParseCode): Promise<string[]> {
    const remaining = this.#filesWithEmbed.filter(({ file }) => existsSync(file));
    const warnings = new Set(remaining.map(({ name }) => `${name}: ${codeWarning}`));
    if (this.#scripts.size === 0) return [...warnings];

    const { scriptFlaw } = await import('../source/script-flaw.ts');
    for (const [code, places] of this.#scripts) {
      const published = places.filter(({ file }) => file === undefined || existsSync(file));
      const flaw = published.length > 0 ? scriptFlaw(code, parse) : undefined;
      if (flaw) warnings.add(`${listPlaces(published.map(({ place }) => place))}: a script ${flaw}`);
    }
    return [...warnings];
  }
}

const isScript = /\.[cm]?js$/i;

// Only an element with an id counts: a script may name the element for another purpose, such as to style it.
const embedInCode =
  /snippet-embed(?<=(?:<|lt;|3c)snippet-embed)(?:\s|%20)[^<>]{0,300}?(?<![a-z])id\s*(?:=|%3d)(?:[\s\\"'{]|&#?\w+;|%\w\w)*\d/i;

const codeWarning =
  'holds an embed, which stays as it is. No snippet is inlined in scripts and style sheets. Write JSON instead, such as search.json, and let the script load that.';
