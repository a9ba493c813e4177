import { decodeHTML } from 'entities/decode';
import { blockElements, walk } from './html-scanner.ts';

const hiddenElements = new Set(['script', 'style', 'template', 'iframe', 'noembed', 'noframes']);
const apart = new Set([
  ...blockElements,
  ...[
    'br',
    'caption',
    'colgroup',
    'legend',
    'optgroup',
    'option',
    'tbody',
    'td',
    'tfoot',
    'th',
    'thead',
    'tr',
  ],
]);

/** The text of HTML: without tags, scripts and styles, and with one space for each run of white space. */
export function textOf(html: string): string {
  let text = '';
  walk<{ isHidden: boolean }>(
    html,
    { isHidden: false },
    {
      open({ name }, context) {
        if (apart.has(name)) text += ' ';
        return hiddenElements.has(name) ? { isHidden: true } : context;
      },
      close(name) {
        if (apart.has(name)) text += ' ';
      },
      text({ start, end }, { isHidden }, kind) {
        if (isHidden) return;
        const written = html.slice(start, end);
        text += kind === 'text' || kind === 'rcdata' ? decodeHTML(written) : written;
      },
    },
  );
  return text.replace(/[\t\n\f\r ]+/g, ' ').replace(/^ | $/g, '');
}
