import { tagAt } from '../embed/html-scanner.ts';

// Elements whose contents are shown as part of the page around them, and that change how nothing behind them is read.
// Not <col>, behind which a parser may drop other elements.
const ordinary = new Set(
  `a abbr acronym address area article aside b bdi bdo big blockquote br button caption center cite code data dd del dfn
  dir div dl dt em embed fieldset figcaption figure font footer form h1 h2 h3 h4 h5 h6 header hgroup hr i img input ins
  kbd label legend li link main map mark menu meta meter nav ol output p picture pre progress q rp rt ruby s samp search
  section small source span strike strong sub summary sup table tbody td tfoot th thead time tr track tt u ul var
  wbr`.split(/\s+/),
);

/**
 * Whether HTML consists of text and complete tags of ordinary elements, so that it leaves nothing open that would swallow
 * the rest of a page. Most content does. Anything else may be harmless, too, but only a parser can tell.
 */
export function hasOnlyOrdinaryTags(html: string): boolean {
  for (let at = html.indexOf('<'); at !== -1; at = html.indexOf('<', at)) {
    const kind = /[a-z/!?]/i.exec(html.charAt(at + 1))?.[0];
    if (kind === undefined) {
      at += 1;
      continue;
    }
    if (kind === '!' || kind === '?' || (kind === '/' && !/[a-z]/i.test(html.charAt(at + 2)))) return false;
    const tag = tagAt(html, at);
    if (tag === undefined || !isOrdinary(tag.name)) return false;
    at = tag.end;
  }
  return true;
}

function isOrdinary(name: string): boolean {
  // A custom element is.
  return ordinary.has(name) || name.includes('-');
}
