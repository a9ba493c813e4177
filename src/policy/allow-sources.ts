/** Sources as a policy names them, `'sha256-…'`, by what they are for. */
export interface Sources {
  scripts: readonly string[];
  styles: readonly string[];
}

/**
 * Adds sources to a Content Security Policy, or to a list of them as a header may hold: to the directives that decide
 * over inline scripts and styles, and no others. A policy that allows all of them already stays as it is: a hash would
 * take that back.
 */
export function allowSources(policy: string, { scripts, styles }: Sources): string {
  return policy
    .split(',')
    .map((one) => allow(allow(one, 'script-src', scripts), 'style-src', styles))
    .join(',');
}

function allow(policy: string, kind: 'script-src' | 'style-src', sources: readonly string[]): string {
  const directives = policy.split(';');
  const names = directives.map((directive) => directive.trim().split(/\s+/)[0]?.toLowerCase());
  // The first one of a name counts, and the most particular one there is.
  const deciding = [`${kind}-elem`, kind, 'default-src'].find((name) => names.includes(name));
  if (deciding === undefined) return policy;
  const index = names.indexOf(deciding);
  const directive = directives[index] ?? '';
  const [, ...allowed] = directive.trim().split(/\s+/);
  const missing = [...new Set(sources)].filter((source) => !allowed.includes(source));
  if (missing.length === 0 || allowsAll(allowed)) return policy;
  if (deciding === 'default-src') {
    // What else it decides over is no business of a snippet.
    const list = [...allowed.filter(isSource), ...missing].join(' ');
    return [...directives.filter((one, at) => one.trim() !== '' || at === 0), ` ${kind} ${list}`].join(';');
  }
  const start = directive.slice(0, directive.length - directive.trimStart().length);
  const name = directive.trim().split(/\s+/)[0];
  directives[index] = `${start}${[name, ...allowed.filter(isSource), ...missing].join(' ')}`;
  return directives.join(';');
}

function isSource(source: string): boolean {
  return source.toLowerCase() !== "'none'";
}

function allowsAll(allowed: readonly string[]): boolean {
  const sources = allowed.map((source) => source.toLowerCase());
  const isOverruled = sources.some((source) => /^'(nonce-|sha\d+-|strict-dynamic')/.test(source));
  return sources.includes("'unsafe-inline'") && !isOverruled;
}
