import type { Range } from '../../markup/edits.ts';
import { toByteString } from '../../markup/latin1.ts';
import { attributesOf, type Tag } from '../../markup/tags.ts';
import { walk } from '../../markup/walk.ts';
import { editUrlOf } from '../../settings/edit-url.ts';
import type { Settings } from '../../settings/settings.ts';
import type { FileEmbed } from '../../snippets/read-embeds.ts';
import type { FetchedSnippets } from '../../snippets/snippet-fetcher.ts';
import type { SnippetUse } from '../../snippets/snippet-use.ts';
import { cleanText } from '../../text/clean-text.ts';
import { dataElement, panelScript } from './panel-script.ts';

/** What the panel says of snippets, by their ids. @param describe what it says of a use, in `astro dev` */
export function panelSnippets<Use extends Pick<SnippetUse, 'request'>, Said>(
  uses: readonly Use[],
  fetched: ReadonlyMap<string, { name?: string | undefined }>,
  urlOf: (id: number) => string | undefined,
  describe?: (use: Use) => Said,
): {
  [k: string]: {
    url: string | undefined;
    name: string | undefined;
    uses: Said[] | undefined;
  };
} {
  const byId = Map.groupBy(uses, ({ request }) => request.id);
  return Object.fromEntries(
    byId.entries().map(([id, some]) => {
      const [name] = some.flatMap(({ request }) => fetched.get(request.key)?.name || []);
      return [id, { url: urlOf(id), name: name && cleanText(name), uses: describe && some.map(describe) }];
    }),
  );
}

/** @throws AstroError if the option `editUrl` throws, or returns anything but a URL. */
export function linkSnippets(
  settings: Settings,
  uses: readonly SnippetUse[],
  fetched: FetchedSnippets,
):
  | {
      [k: string]: {
        url: string | undefined;
        name: string | undefined;
        uses: unknown[] | undefined;
      };
    }
  | undefined {
  const { editLinks, editUrl } = settings;
  if (!editLinks || !editUrl) return undefined;
  const isWebUrl = ({ protocol }: URL) => /^https?:$/.test(protocol);
  return panelSnippets(uses, fetched, (id) => editUrlOf(id, editUrl, isWebUrl));
}

export interface EditLinks {
  linked?: Readonly<Record<string, object>> | undefined;
  /** Of a page of `astro dev`, where the toolbar has the panel: it needs no script. */
  hash?: string | undefined;
}

/** Marks the embeds of a document where a browser reads comments, and adds what the panel reads. */
export function linkPage(
  page: Buffer,
  embeds: readonly FileEmbed[],
  { linked, hash }: EditLinks,
):
  | {
      embeds: readonly FileEmbed[];
      script?: never;
    }
  | {
      embeds: FileEmbed[];
      script: {
        start: number;
        end: number;
        text: string;
      };
    } {
  if (!linked) return { embeds };
  const { start, unmarked } = readPage(page.toString('latin1'), embeds);
  if (start === undefined) return { embeds };
  const snippets = [...Map.groupBy(embeds, ({ request }) => request.id)].map(([id, shown]) => {
    const places = new Set(shown.flatMap((embed) => unmarked.get(embed) ?? []));
    return { id, ...linked[id], unmarked: [...places] };
  });
  const script = hash ? '' : `<script type="module">${panelScript()}</script>`;
  return {
    embeds: embeds.map((embed) =>
      unmarked.has(embed) ? embed : { ...embed, format: { ...embed.format, mark: `${embed.request.id}` } },
    ),
    script: { start, end: start, text: toByteString(dataElement(snippets, hash) + script) },
  };
}

/** Finds where the script belongs, and embeds that cannot be marked, with the names of their places. */
function readPage(page: string, embeds: readonly FileEmbed[]) {
  const unmarked = new Map<FileEmbed, string>();
  let start = page.length;
  let isDocument = false;
  // Embeds are in the order of the page, as is the walk.
  let next = 0;
  const leaveUnmarked = (place: Range, describe: (start: number) => string) => {
    for (let embed = embeds[next]; embed && embed.start < place.end; embed = embeds[++next]) {
      if (place.start < embed.start) unmarked.set(embed, describe(embed.start));
    }
  };
  walk<string>(page, '', {
    open(tag) {
      const { name } = tag;
      if (name === 'body') start = Math.min(start, tag.start);
      isDocument ||= ['html', 'head', 'body'].includes(name);
      leaveUnmarked(tag, (offset) => attributeAt(page, tag, offset));
      return name;
    },
    close(name, tag) {
      if (name === 'head' && tag.start < tag.end) start = Math.min(start, tag.start);
    },
    text({ start, end }, holder, kind) {
      if (kind !== 'text') leaveUnmarked({ start: start - 1, end }, () => `<${holder}>`);
    },
    comment(comment) {
      isDocument ||= /^<!doctype\b/i.test(page.slice(comment.start, comment.start + 10));
    },
  });
  return { start: isDocument ? start : undefined, unmarked };
}

function attributeAt(page: string, tag: Tag, offset: number) {
  const attributes = attributesOf(page, tag);
  const found = attributes.find(({ start, end }) => start <= offset && offset < end);
  // What the many <meta> elements of a page are about.
  const about = tag.name === 'meta' && attributes.find(({ name }) => name === 'name' || name === 'property');
  const more = about ? ` ${about.name}="${about.value}"` : '';
  return Buffer.from(`${found?.name ?? 'attribute'} of <${tag.name}${more}>`, 'latin1').toString();
}
