import { paramsObject } from '../src/client/snippet-request.ts';
import { absoluteLinks } from '../src/content/links.ts';
import { prepareSnippet } from '../src/content/prepare-snippet.ts';
import type { InlinableSnippet } from '../src/inlining/inline-page.ts';
import { readManifest } from '../src/record/manifest-file.ts';
import { pageMaker } from '../src/refresh/site-to-refresh.ts';
import type { PagePreview, SnippetContents } from './service/publisher.ts';
import { pathOfPage } from './service/website/places.ts';
import type { BuiltSite } from './site-record.ts';

/**
 * Makes a page of the site as a build would with these contents, from the page as it was generated. A comment
 * `<!--draft-->` marks each place of the previewed snippet.
 *
 * @param wanted the path of the preferred page
 * @returns `undefined` if no page shows the snippet
 */
export async function previewPage(
  id: number,
  contentOf: SnippetContents,
  wanted: string,
  { siteUrl, record }: BuiltSite,
): Promise<PagePreview | undefined> {
  const { manifest } = await readManifest(record);
  const pages = manifest?.files
    .filter(
      ({ name, shows }) => name.endsWith('.html') && shows.some((use) => manifest.snippets[use]?.id === id),
    )
    .sort((one, other) => one.name.length - other.name.length);
  const page = pages?.find(({ name }) => pathOfPage(name) === wanted) ?? pages?.[0];
  if (manifest === undefined || page === undefined) return undefined;

  // The frame of the preview runs no scripts: those that would fail a build are shown as nothing.
  const rules = { ...manifest.rules, scripts: 'allow', strict: false } as const;
  const contents = new Map<string, InlinableSnippet>();
  for (const use of new Set(page.shows)) {
    const request = manifest.snippets[use];
    const content = request && (await contentOf(request.id, paramsObject(request) ?? {}));
    if (request === undefined || content === undefined) continue;
    const { asText, asUrl, inTemplate } = request;
    const prepared = await prepareSnippet(
      { content },
      { request, asHtml: asText !== true, asUrl, inTemplate },
      rules,
    );
    const mark = request.id === id ? '<!--draft-->' : '';
    contents.set(request.key, { ...prepared, html: mark + prepared.html });
  }
  const makePage = pageMaker({ recordFile: record, manifest, fetched: contents, linked: manifest.linked });
  return { page: pathOfPage(page.name), html: absoluteLinks(makePage(page).bytes.toString(), siteUrl) };
}
