/** How far an entry's braces may be from its revision. */
const maxEntryLength = 2_000;

const revision = /["']?\brevision["']?\s*:\s*["'`]/;
const urlOf = /["']?\burl["']?\s*:\s*["'`]([^"'`]*)["'`]/;

/**
 * The URLs in a Workbox precache list: `{ url: 'about/index.html', revision: '…' }`. Those with `revision: null` are left
 * out: their URL is their version, and a build would not change it either.
 */
export function precachedUrls(text: string): string[] {
  const urls: string[] = [];
  for (let at = text.indexOf('revision'); at !== -1; at = text.indexOf('revision', at + 1)) {
    const from = Math.max(0, at - maxEntryLength);
    const before = text.slice(from, at);
    const after = text.slice(at, at + maxEntryLength);
    const entry = before.slice(before.lastIndexOf('{') + 1) + after.slice(0, after.indexOf('}') + 1);
    const found = revision.test(entry) ? urlOf.exec(entry)?.[1] : undefined;
    if (found !== undefined) urls.push(found);
  }
  return urls;
}

/**
 * The file of the output that a URL is answered with. The site's base path is not known here: leading folders of an
 * absolute URL are left out until a file is found.
 *
 * @param from the file that contains the URL.
 */
export function fileOfUrl(url: string, from: string, exists: (name: string) => boolean): string | undefined {
  const base = `https://site.invalid/${from}`;
  // An empty URL is that of the folder here, and not of the file itself.
  const relative = url === '' ? './' : url;
  if (!URL.canParse(relative, base)) return undefined;
  const { pathname } = new URL(relative, base);
  const isAbsolute = /^(\/|[a-z]+:)/i.test(url);
  const folders = decode(pathname).slice(1).split('/');
  for (let left = 0; left < (isAbsolute ? folders.length : 1); left++) {
    const path = folders.slice(left).join('/');
    const names =
      path === '' || path.endsWith('/')
        ? [`${path}index.html`]
        : [path, `${path}.html`, `${path}/index.html`];
    const found = names.find(exists);
    if (found !== undefined) return found;
  }
  return undefined;
}

function decode(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
