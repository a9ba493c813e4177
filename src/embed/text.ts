import { decodeHTML } from 'entities/decode';
import { blockElements, walk } from './html-scanner.ts';

const hidden = /^(?:script|style|template|iframe|noembed|noframes)$/;
const apart = /^(?:br|caption|colgroup|legend|optgroup|option|tbody|td|tfoot|th|thead|tr)$/;
const isApart = (name: string) => blockElements.has(name) || apart.test(name);

/** The text of HTML: without tags, scripts and styles, and with one space for each run of white space. */
export function textOf(html: string): string {
  let text = '';
  walk(html, false, {
    open({ name }, isHidden) {
      if (isApart(name)) text += ' ';
      return isHidden || hidden.test(name);
    },
    close(name) {
      if (isApart(name)) text += ' ';
    },
    text({ start, end }, isHidden, kind) {
      const written = html.slice(start, end);
      if (!isHidden) text += kind === 'text' || kind === 'rcdata' ? decodeHTML(written) : written;
    },
  });
  return text.replace(/[\t\n\f\r ]+/g, ' ').replace(/^ | $/g, '');
}
