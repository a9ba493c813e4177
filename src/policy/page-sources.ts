import type { PreparedSnippet } from '../html-rules/apply-rules.ts';
import type { Sources } from './allow-sources.ts';

/** What a page has to allow for all that is shown on it, each once. */
export function sourcesOf(contents: Iterable<Pick<PreparedSnippet, 'inlineCode'>>): Sources {
  const scripts = new Set<string>();
  const styles = new Set<string>();
  for (const { inlineCode } of contents) {
    for (const source of inlineCode?.scripts ?? []) scripts.add(source);
    for (const source of inlineCode?.styles ?? []) styles.add(source);
  }
  return { scripts: [...scripts], styles: [...styles] };
}
