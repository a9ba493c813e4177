import { decodeHTML } from 'entities/decode';
import { blockElements, walk } from './html-scanner.ts';

const hidden = /^(?:script|style|template|iframe|noembed|noframes)$/;
const apart = /^(?:br|caption|colgroup|legend|optgroup|option|tbody|td|tfoot|th|thead|tr)$/;
const isApart = (name: string) => blockElements.has(name) || apart.test(name);

/** The text of HTML: without tags, scripts and styles, and with one space for each run of white space. */
export function textOf(html: string): string {
  let text = '';
  walk<{ isHidden: boolean }>(
    html,
    { isHidden: false },
    {
      open({ name }, context) {
        if (isApart(name)) text += ' ';
        return hidden.test(name) ? { isHidden: true } : context;
      },
      close(name) {
        if (isApart(name)) text += ' ';
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
