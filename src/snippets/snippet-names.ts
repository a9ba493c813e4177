import { cleanText } from '../text/clean-text.ts';

/** Names that people gave snippets, by the ids of these. Names are cleaned, and without the API key. */
export type RecordedNames = Readonly<Record<string, string>>;

/**
 * The names of snippets, as far as they are known: only variant A sends them, so those of earlier runs are kept in the
 * record. A name is for people alone, so one that is missing or old is no fault.
 */
export class SnippetNames {
  readonly #names = new Map<number, string>();

  /** @param known the names of an earlier run */
  constructor(known: RecordedNames = {}) {
    for (const [id, name] of Object.entries(known)) this.#names.set(Number(id), name);
  }

  of(id: number): string | undefined {
    return this.#names.get(id);
  }

  /** Notes the name that the service has sent, if it has. */
  note(id: number, name: string | undefined): void {
    const clean = cleanText(name ?? '');
    if (clean) this.#names.set(id, clean);
  }

  /** The known names of these snippets, to be recorded; `undefined` if there are none. */
  ofAll(ids: Iterable<number>): RecordedNames | undefined {
    const names = [...new Set(ids)].flatMap((id) => {
      const name = this.of(id);
      return name ? [[id, name] as const] : [];
    });
    return names.length > 0 ? Object.fromEntries(names) : undefined;
  }
}
