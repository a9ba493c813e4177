/** The names of the files that Astro may write for a route, for every `build.format`. */
export function routeFiles(pathname: string, base: string): string[] {
  const root = base.replace(/\/+$/, '');
  const inside = root !== '' && pathname.startsWith(`${root}/`) ? pathname.slice(root.length) : pathname;
  const name = decodeURI(inside)
    .replace(/^\/+|\/+$/g, '')
    .replace(/(^|\/)index\.html$/, '');
  if (name === '') return ['index.html'];
  return name.endsWith('.html') ? [name] : [`${name}/index.html`, `${name}.html`];
}
