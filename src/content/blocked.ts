import type { HtmlRules } from '../settings/options.ts';
import { allowSources, allowsAllInline, type InlineAttribute, type InlineCode } from './csp.ts';
import type { ImageUse } from './images.ts';

/** What in a snippet's content a Content Security Policy may block. */
export interface RestrictedContent {
  /** `undefined` if there is none. */
  inlineCode: InlineCode | undefined;
  images?: readonly ImageUse[] | undefined;
}

/** A kind of content that a policy may block: inline code in elements or attributes, or an image. */
type RestrictedKind = 'script' | 'styleSheet' | InlineAttribute['kind'] | 'image';

/** The directives that decide about a kind of content: browsers obey the first one that a policy has. */
const decidingDirectives: Readonly<Record<RestrictedKind, readonly string[]>> = {
  script: ['script-src-elem', 'script-src', 'default-src'],
  handler: ['script-src-attr', 'script-src', 'default-src'],
  url: ['script-src-elem', 'script-src', 'default-src'],
  styleSheet: ['style-src-elem', 'style-src', 'default-src'],
  style: ['style-src-attr', 'style-src', 'default-src'],
  image: ['img-src', 'default-src'],
};

/** The sources that a policy allows for a kind of content; `undefined` if all are allowed. */
function sourcesFor(policy: string, kind: RestrictedKind): string[] | undefined {
  const directives = policy.split(';').map((directive) => directive.trim().split(/\s+/));
  for (const wanted of decidingDirectives[kind]) {
    // Of several directives with one name, browsers obey the first.
    const found = directives.find(([name]) => name?.toLowerCase() === wanted);
    if (found) return found.slice(1);
  }
  return undefined;
}

/**
 * Whether a policy allows inline code (Content Security Policy Level 3, section 6.7.3).
 *
 * @param hash the source that allows exactly this code
 */
export function allowsInline(policy: string, kind: Exclude<RestrictedKind, 'image'>, hash: string): boolean {
  const sources = sourcesFor(policy, kind);
  const isScript = kind !== 'styleSheet' && kind !== 'style';
  if (!sources || allowsAllInline(sources, isScript)) return true;
  // Attributes are only compared with hashes if the policy says so.
  const isElement = kind === 'script' || kind === 'styleSheet';
  if (!isElement && !sources.some((source) => source.toLowerCase() === "'unsafe-hashes'")) return false;
  // A policy may write a hash in base64url.
  return sources.some(
    (source) => source.replaceAll('-', '+').replaceAll('_', '/') === hash.replace('-', '+'),
  );
}

/**
 * Whether a policy allows an image (section 6.7.2.8).
 *
 * @param site the URL of the site, if it is known
 */
export function allowsImage(policy: string, url: string, site?: string): boolean {
  const sources = sourcesFor(policy, 'image');
  if (!sources) return true;
  const unknownSite = 'https://site.invalid';
  const siteUrl = new URL(site ?? unknownSite);
  const image = URL.parse(url, siteUrl);
  if (!image) return false;
  return sources.some((source) => {
    const lowerCase = source.toLowerCase();
    if (lowerCase === "'self'") return image.origin === siteUrl.origin;
    if (lowerCase === '*') return true;
    if (/^[a-z][a-z\d+.-]*:$/.test(lowerCase)) return matchesScheme(lowerCase, image.protocol);
    return matchesHost(source, image, siteUrl.protocol);
  });
}

/** A policy that allows `http:` allows `https:`, too. */
const matchesScheme = (allowed: string, actual: string) =>
  allowed === actual || (allowed === 'http:' && actual === 'https:');

const defaultPorts: Readonly<Record<string, string>> = { 'http:': '80', 'https:': '443' };

const hostSource = /^(?:([a-z][a-z\d+.-]*:)\/\/)?(\*|(?:\*\.)?[^/:*']+)(?::(\d+|\*))?(\/.*)?$/i;

function matchesHost(source: string, image: URL, siteProtocol: string): boolean {
  const [, scheme = siteProtocol, host = '', port = '', path = ''] = hostSource.exec(source) ?? [];
  if (host === '' || !matchesScheme(scheme.toLowerCase(), image.protocol)) return false;
  const name = host.toLowerCase();
  const hasHost = name.startsWith('*') ? image.hostname.endsWith(name.slice(1)) : image.hostname === name;
  const actualPort = image.port || defaultPorts[image.protocol];
  const hasPort = port === '' ? image.port === '' : port === '*' || port === actualPort;
  const hasPath =
    path === '' || (path.endsWith('/') ? image.pathname.startsWith(path) : image.pathname === path);
  return hasHost && hasPort && hasPath;
}

/** The policy of a page that is not known, as Astro writes it: with hashes, so that other code is blocked. */
const presumedPolicy = "script-src 'self' 'sha256-'; style-src 'self' 'sha256-'";

/**
 * Describes what policies block of a snippet's content, as ends of sentences.
 *
 * @param policies all that the page has, as browsers obey each; `undefined` if they are not known
 * @param rule how the site's rules treat inline code
 * @param site the URL of the site, if it is known
 */
export function describeBlocked(
  { inlineCode, images = [] }: RestrictedContent,
  policies: readonly string[] | undefined,
  rule: HtmlRules['policy'],
  site?: string,
): string[] {
  const { scripts = [], styles = [], attributes = [] } = inlineCode ?? {};
  const allowed = rule === 'hash' ? { scripts, styles } : { scripts: [], styles: [] };
  const inForce = policies ?? [allowSources(presumedPolicy, allowed)];
  const isBlocked = (kind: Exclude<RestrictedKind, 'image'>, hash: string) =>
    inForce.some((policy) => !allowsInline(policy, kind, hash));

  const hasScript = scripts.some((hash) => isBlocked('script', hash));
  const hasStyle = styles.some((hash) => isBlocked('styleSheet', hash));
  const hasAttribute = attributes.some(({ kind, source }) => isBlocked(kind, source));
  const blocked: string[] = [];
  if (hasScript) blocked.push('an inline script');
  if (hasStyle) blocked.push('an inline style');
  if (hasAttribute) blocked.push('event handlers, style attributes or javascript: URLs');

  const flaws = images.flatMap(({ url, copy }) => {
    const shown = copy?.href ?? url;
    if (inForce.every((policy) => allowsImage(policy, shown, site))) return [];
    return `shows the image ${shown}, blocked by \`img-src\` or \`default-src\` of the site's Content Security Policy. Allow it there.`;
  });
  if (blocked.length === 0) return flaws;

  const subject = `contains ${blocked.join(' and ')}`;
  const areAttributes = !hasScript && !hasStyle;
  if (areAttributes && rule === 'hash') {
    return [
      `${subject}, which no hash in a Content Security Policy can allow: browsers ignore them.`,
      ...flaws,
    ];
  }
  // A policy by hand is changed by hand: for Astro, the option needs a policy of Astro's.
  const adviceForCode =
    rule === 'none' ? 'Allow it there.' : "Set csp: 'hash' to allow scripts and styles by their hashes.";
  const advice = areAttributes ? 'No hash can allow these.' : adviceForCode;
  return [`${subject}, blocked by the site's Content Security Policy. ${advice}`, ...flaws];
}

/** Whether a content holds anything that a policy can block. */
export function isRestricted({ inlineCode, images = [] }: RestrictedContent): boolean {
  const { scripts = [], styles = [], attributes = [] } = inlineCode ?? {};
  return scripts.length + styles.length + attributes.length + images.length > 0;
}
