/** The names of the files that Astro may write for a route, for every `build.format`. */
export function routeFiles(pathname: string, base: string): string[] {
  const root = base.replace(/\/+$/, '');
  const inside = root !== '' && pathname.startsWith(`${root}/`) ? pathname.slice(root.length) : pathname;
  const names = spellings(inside).flatMap((path) => {
    const name = path.replace(/^\/+|\/+$/g, '').replace(/(^|\/)index\.html$/, '');
    if (name === '') return ['index.html'];
    return name.endsWith('.html') ? [name] : [`${name}/index.html`, `${name}.html`];
  });
  return [...new Set(names)];
}

/** A path with a percent sign of its own, such as `/tags/100%/`, is that of its file. */
function spellings(path: string): string[] {
  try {
    return [decodeURI(path), path];
  } catch {
    // Astro 5 decodes `%25` for the URL of a page, and not for its file.
    return [path, path.replaceAll('%', '%25')];
  }
}
