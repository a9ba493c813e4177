import { isEmbedAttribute } from './element.ts';

/** Attributes on an embed that mean nothing there, as tools write them by themselves, or that the build itself reads. */
interface IgnoredAttribute {
  name: RegExp;
  /** What the value consists of. An author's own value would be lost with the embed. */
  value?: RegExp;
  /** The attributes as the documentation names them, in Markdown. */
  written: string;
  by: string;
}

/** The attributes that may stand on an embed besides its own. The table in docs/embeds.md is made from this one. */
export const ignoredAttributes: readonly IgnoredAttribute[] = [
  { name: /^key$/, written: '`key`', by: 'React, Preact, Vue, MDX' },
  {
    name: /^(?:xml:)?lang$/,
    written: '`lang`, `xml:lang`',
    by: 'you: the option [`params`](options.md#params) gets it',
  },
  {
    name: /^class$/,
    value: /^(?:\s*(?:astro-[a-z\d]{8}|svelte-[a-z\d]+|jsx-\d+)(?=\s|$))*\s*$/i,
    written: '`class` of scoped styles',
    by: 'Astro, Svelte, styled-jsx',
  },
  {
    name: /^data-(?:astro-cid|v)-|^_ng(?:content|host)-/,
    written: '`data-astro-cid-…`, `data-v-…`, `_ngcontent-…`',
    by: 'Astro, Vue, Angular',
  },
  {
    name: /^style$/,
    value: /^(?:--[^\s:;]+: (?:[^;"'()]|"[^"]*"|'[^']*'|\([^)]*\))*;)*$/,
    written: '`style` of `define:vars`',
    by: 'Astro',
  },
  {
    name: /^data-(?:astro-source|sentry)-/,
    written: '`data-astro-source-…`, `data-sentry-…`',
    by: '`astro dev`, Sentry',
  },
  {
    name: /^data-(?:hk|svelte-h|react(?:root|id|-checksum)|server-rendered)$|^q:/,
    written: '`data-hk`, `data-svelte-h`, `data-reactroot`, `q:…`',
    by: 'Solid, Svelte, React, Qwik',
  },
];

/**
 * Whether an attribute or a prop is neither an embed's own nor one to ignore, so that it would be lost without a word
 * when the embed is replaced. `slot` depends on the element around: see `checkSlots`.
 */
export const isForeignAttribute = (name: string, value: string): boolean =>
  !isEmbedAttribute(name) &&
  name !== 'slot' &&
  !ignoredAttributes.some((ignored) => ignored.name.test(name) && (ignored.value?.test(value) ?? true));

/** What to do about a foreign attribute. `transition:name` and the like are in the page under a name that Astro gave them. */
export function foreignAdvice(name: string): string {
  const origin = name.startsWith('data-astro-transition-') ? 'Astro writes it for `transition:…`. ' : '';
  return `${origin}It would be lost with the embed: put it on an element around the embed, or remove it.`;
}
